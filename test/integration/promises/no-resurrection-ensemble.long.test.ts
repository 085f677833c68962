import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS, SLACK_MS } from '../../support/locks/times.js';
import { noteAbort, untilPassed } from '../../support/locks/witness.js';
import { eventually, within } from '../../support/process/eventually.js';
import { Stalls } from '../../support/process/stalls.js';

/** Once the quorum is back, its election and the way back to it must fit in, also where much else is running. */
const S_MS = 2 * SESSION_MS;

describe('No resurrection, with three servers,', () => {
  const stage = new LockStage(3);

  it('a holder stays lost whose session survives a quorum that is away for three times S', async () => {
    const holder = await stage.open({ sessionTimeoutMs: S_MS });
    const waiter = await stage.open({ sessionTimeoutMs: S_MS, waitMs: 60_000 });
    const { key, lock, waiting, place } = await stage.contend(holder, waiter);
    const abort = noteAbort(lock);
    const session = holder.sessionId();

    const [killed, alsoKilled] = await stage.ensemble.followers();
    await Promise.all([killed?.kill(), alsoKilled?.kill()]);
    using stalls = Stalls.watch();
    const goneAt = performance.now();
    await eventually('the holder is told', () => abort.at !== undefined);
    expect((abort.at ?? Infinity) - goneAt).toBeLessThan(S_MS + SLACK_MS + stalls.totalMs);
    expect(lock.isHeld()).toBe(false);
    await untilPassed(3 * S_MS, goneAt);
    await Promise.all([killed?.start(), alsoKilled?.start()]);
    await stage.ensemble.waitForQuorum();

    // The session lived on, yet its node is removed: nobody else could have done that.
    const next = await within(30_000, 'the hand-over', waiting);
    expect(await stage.sessionIds()).toContain(session);
    expect(holder.sessionId()).toBe(session);
    expect(holder.eventsOf('lost')).toMatchObject([{ reason: 'uncertain' }]);
    expect(lock.isHeld()).toBe(false);
    // Who only waited has kept its place.
    expect(next.nodePath).toBe(`${key}/${place}`);
    expect(waiter.eventsOf('requeued')).toEqual([]);
    await next.release();
  }, 90_000);

  it('nothing is lost while a leader is killed and another elected within S', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    const lock = await client.service.acquire(key);
    const leader = await stage.ensemble.leader();
    await leader.kill();
    await stage.ensemble.leader();
    await client.untilUp();
    await lock.whenSure();
    expect(lock.isHeld()).toBe(true);
    expect(client.eventsOf('lost')).toEqual([]);
    await leader.start();
    await stage.ensemble.waitForQuorum();
    await lock.release();
  }, 60_000);
});
