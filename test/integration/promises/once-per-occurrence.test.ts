import { performance } from 'node:perf_hooks';
import { describe, expect, it } from '@jest/globals';
import { exists } from '../../../lib/session/requests.js';
import { killHolder } from '../../support/locks/kill-holder.js';
import type { LockClient } from '../../support/locks/lock-client.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SHORTEST_SESSION_MS } from '../../support/locks/times.js';
import { outcomeOf, untilPassed } from '../../support/locks/witness.js';
import { eventually } from '../../support/process/eventually.js';
import { replyTo } from '../../support/sessions/reply-to.js';

/** As long as no test takes on any machine. */
const BUSY_MS = 600_000;
/** What waits for its end waits for so long. */
const SOON_OVER_MS = 500;
/** Both clocks show whole milliseconds, and one of them may be corrected a little meanwhile. */
const CLOCKS_DIFFER_MS = 10;

describe('For atLeastMs after a run began the key is busy to all,', () => {
  const stage = new LockStage(1, { containerCheckIntervalMs: 100 });

  async function run(client: LockClient, key: string): Promise<void> {
    await client.service.withLock(key, () => undefined, { atLeastMs: BUSY_MS });
  }

  async function expectBusy(client: LockClient, key: string): Promise<void> {
    expect(await client.service.tryAcquire(key, { atLeastMs: BUSY_MS })).toBeUndefined();
    expect(await client.service.tryAcquire(key)).toBeUndefined();
    expect(await outcomeOf(client.service.acquire(key, { waitMs: 0 }))).toMatchObject({ code: 'LOCK_TIMEOUT' });
  }

  it('it is busy to those that use the option, to those that do not, and to readers', async () => {
    const [one, other] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    await run(one, key);
    for (const client of [one, other]) {
      await expectBusy(client, key);
      expect(await client.service.tryAcquire(key, { mode: 'read' })).toBeUndefined();
    }
  });

  it('it is free when the time is over, which the begin counts for and not the end', async () => {
    const [one, other] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const startedAt = performance.now();
    const lock = await one.service.acquire(key, { atLeastMs: SOON_OVER_MS });
    const waiting = other.service.acquire(key, { atLeastMs: SOON_OVER_MS });
    await stage.untilQueueHas(key, 2);
    await lock.release();
    const next = await waiting;
    expect(performance.now() - startedAt).toBeGreaterThan(SOON_OVER_MS - CLOCKS_DIFFER_MS);
    // A run that takes longer than that keeps nobody out behind it.
    await untilPassed(SOON_OVER_MS + CLOCKS_DIFFER_MS);
    await next.release();
    const last = await one.service.tryAcquire(key, { atLeastMs: SOON_OVER_MS });
    expect(last?.isHeld()).toBe(true);
    await last?.release();
  });

  it('it is busy also when the one that runs is killed', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    await killHolder(stage.connect, key, { atLeastMs: BUSY_MS });
    await stage.untilQueueHas(key, 0);
    await expectBusy(client, key);
  });

  it('it is busy also when the containers that stand empty were reaped', async () => {
    const [one, other] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    await run(one, key);
    // The servers look at all containers in a row: in the second row, at the latest, this key's was among them.
    for (const beside of [stage.freshKey(), stage.freshKey()]) {
      await (await one.service.acquire(beside)).release();
      const operator = await stage.operator();
      await eventually('a key beside it is gone', async () => (await replyTo(operator, exists(beside))) === undefined);
    }
    await expectBusy(other, key);
  });

  it('it is busy also to itself with another session, and to another process that was not there', async () => {
    const one = await stage.open({ sessionTimeoutMs: SHORTEST_SESSION_MS });
    const key = stage.freshKey();
    const lock = await one.service.acquire(key, { atLeastMs: BUSY_MS });
    await stage.expire(one);
    await one.untilUp();
    expect(lock.isHeld()).toBe(false);
    await expectBusy(one, key);
    await expectBusy(await stage.open(), key);
  });

  it('it is busy also when the server was restarted', async () => {
    const one = await stage.open();
    const key = stage.freshKey();
    await run(one, key);
    await stage.server.restart();
    await expectBusy(await stage.open(), key);
  });
});
