import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { LockConfigurationError, LockLostError } from '../../../lib/lock/errors.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SLACK_MS } from '../../support/locks/times.js';
import { noteAbort, untilPassed } from '../../support/locks/witness.js';
import { Stalls } from '../../support/process/stalls.js';

const LEASE_MS = 600;
/** Extended when a quarter of it is over: a stall of two seconds must not be its end. */
const EXTENDED_LEASE_MS = 4_000;

describe('Lease', () => {
  const stage = new LockStage();

  it('ends the hold: the signal first, then the removal, then the next one', async () => {
    const [client, other] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    using stalls = Stalls.watch();
    const askedAt = performance.now();
    const lock = await client.service.acquire(key, { leaseMs: LEASE_MS });
    const abort = noteAbort(lock);
    expect(lock.remainingMs()).toBeLessThanOrEqual(LEASE_MS);

    const next = await other.service.acquire(key);
    const [removal] = client.requests({ opcode: 'delete', path: lock.nodePath });
    expect(abort.at).toBeGreaterThanOrEqual(askedAt + LEASE_MS);
    expect(abort.at).toBeLessThan(askedAt + LEASE_MS + SLACK_MS + stalls.totalMs);
    expect(removal?.at).toBeGreaterThanOrEqual(abort.at ?? Infinity);
    expect(lock.isHeld()).toBe(false);
    expect(client.eventsOf('lost')).toMatchObject([{ reason: 'lease-ended' }]);
    expect(() => lock.extend(LEASE_MS)).toThrow(LockLostError);
    await next.release();
  });

  it('goes on as long as it is extended in time, by its holder only', async () => {
    const client = await stage.open();
    const lock = await client.service.acquire(stage.freshKey(), { leaseMs: EXTENDED_LEASE_MS });
    const startedAt = performance.now();
    while (performance.now() - startedAt < 1.5 * EXTENDED_LEASE_MS) {
      await untilPassed(EXTENDED_LEASE_MS / 4);
      lock.extend(EXTENDED_LEASE_MS);
      expect(lock.isHeld()).toBe(true);
    }
    await lock.release();
    expect(() => lock.extend(EXTENDED_LEASE_MS)).toThrow();
    const endless = await client.service.acquire(stage.freshKey());
    expect(() => endless.extend(LEASE_MS)).toThrow(LockConfigurationError);
    await endless.release();
  });

  it('ends while the link is away too, and its node is removed when it is back', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    const lock = await client.service.acquire(key, { leaseMs: LEASE_MS });
    await client.refuse();
    await untilPassed(LEASE_MS);
    expect(lock.isHeld()).toBe(false);
    expect(await stage.queue(key)).toHaveLength(1);
    await client.pass();
    await stage.untilQueueHas(key, 0);
  });
});
