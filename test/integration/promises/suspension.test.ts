import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { LockConfigurationError } from '../../../lib/lock/errors.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS } from '../../support/locks/times.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { eventually } from '../../support/process/eventually.js';
import { Stalls } from '../../support/process/stalls.js';

describe('A suspension', () => {
  const stage = new LockStage();

  it("ends a hold at once with onSuspended: 'stop', and its node as soon as the link is back", async () => {
    const [client, other] = [await stage.open({ onSuspended: 'stop' }), await stage.open()];
    const { key, lock, waiting } = await stage.contend(client, other);

    await client.refuse();
    await client.untilState((state) => state === 'suspended');
    expect(lock.isHeld()).toBe(false);
    expect(lock.signal.aborted).toBe(true);
    expect(client.eventsOf('lost')).toMatchObject([{ reason: 'suspended' }]);
    expect(await stage.queue(key)).toHaveLength(2);
    await client.pass();
    const next = await waiting;
    await next.release();
  });

  it("lets a hold go on with onSuspended: 'continue' while it is certain", async () => {
    const client = await stage.open();
    const lock = await client.service.acquire(stage.freshKey());
    await client.refuse();
    await client.untilState((state) => state === 'suspended');
    expect(lock.isHeld()).toBe(true);
    expect(lock.signal.aborted).toBe(false);
    await client.pass();
    await client.untilUp();
    expect(lock.isHeld()).toBe(true);
    await lock.release();
    expect(client.eventsOf('lost')).toEqual([]);
  });

  it('makes a re-entry wait for proof, and fail by its deadline', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    const { service } = client;
    await service.withLock(key, async (outer) => {
      await client.refuse();
      await client.untilState((state) => state === 'suspended');
      expect(await outcomeOf(service.acquire(key, { waitMs: 200 }))).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      const inner = outcomeOf(service.withLock(key, (lock) => lock.fencingToken));
      await client.pass();
      expect(await inner).toBe(outer.fencingToken);
      expect(outer.isHeld()).toBe(true);
    });
  });
});

describe("whenUnavailable: 'local'", () => {
  const stage = new LockStage();
  const WAIT_MS = 1_000;

  it('gives out locks of this process when asked for, each with an event, and those of the fleet when it is back', async () => {
    const client = await stage.open({ whenUnavailable: 'local', waitMs: WAIT_MS, sessionTimeoutMs: SESSION_MS });
    const { service } = client;
    const key = stage.freshKey();
    const fleet = await service.acquire(key);
    expect(fleet.scope).toBe('fleet');
    await fleet.release();

    await client.refuse();
    using stalls = Stalls.watch();
    const startedAt = performance.now();
    const local = await service.acquire(key);
    expect(performance.now() - startedAt).toBeLessThan(WAIT_MS + stalls.totalMs);
    expect(local.scope).toBe('process');
    expect(local.isHeld()).toBe(true);
    expect(() => local.fencingToken).toThrow(LockConfigurationError);
    expect(client.eventsOf('degraded')).toMatchObject([{ key }]);
    // It does exclude the callers of this process.
    expect(await outcomeOf(service.acquire(key, { waitMs: 300 }))).toMatchObject({ code: 'LOCK_TIMEOUT' });
    const waiting = service.acquire(key);
    await eventually('it waits', () => client.eventsOf('degraded').length === 3);
    await local.release();
    const next = await waiting;
    expect(next.scope).toBe('process');
    await next.release();

    await client.pass();
    await client.untilUp();
    const again = await service.acquire(key);
    expect(again.scope).toBe('fleet');
    expect(again.fencingToken).toBeGreaterThan(fleet.fencingToken);
    await again.release();
  });

  it('gives no lock of this process to who finds the key busy', async () => {
    const [holder, client] = [await stage.open(), await stage.open({ whenUnavailable: 'local' })];
    const key = stage.freshKey();
    const lock = await holder.service.acquire(key);
    expect(await outcomeOf(client.service.acquire(key, { waitMs: 200 }))).toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(client.eventsOf('degraded')).toEqual([]);
    await lock.release();
  });
});
