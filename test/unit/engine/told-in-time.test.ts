import { describe, expect, it } from '@jest/globals';
import { LockLostError } from '../../../lib/lock/errors.js';
import { type Client, TICK_MS } from './support/engine-world.js';
import { useEngineWith } from './support/use-engine.js';

const KEY = '/locks/report';

/** What a holder learns when certainty gets shorter, or the session ends itself, and when. */
describe('Loss is told first', () => {
  const { engine, next } = useEngineWith({ world: { servers: 3 } }, 'next');

  /** Takes the lock with a client whose ticks are so long, and has another one wait for it. */
  async function contended(
    serverTickMs: number,
  ): Promise<{ holder: Client; lostAt: () => number; grantedAt: () => number }> {
    const holder = await engine.client('holder', {}, { serverTickMs });
    const lock = await engine.settle(holder.locks.acquire(KEY));
    let lostAt = Infinity;
    let grantedAt = Infinity;
    lock.signal.addEventListener('abort', () => (lostAt = engine.world.now()));
    next.locks.acquire(KEY, { waitMs: 60_000 }).then(
      () => (grantedAt = engine.world.now()),
      () => undefined,
    );
    // Long enough for the leader to have heard of all that the old connection carried.
    await engine.runFor(TICK_MS);
    return { holder, lostAt: () => lostAt, grantedAt: () => grantedAt };
  }

  it('a holder hears of it where a server grants less than two ticks, before the session is ended and the next one enters', async () => {
    const { holder, lostAt, grantedAt } = await contended(4 * TICK_MS);
    for (const id of [1, 2, 3]) engine.faults.limitSessions(id, 2 * TICK_MS);
    engine.faults.suspend(holder.process);
    await engine.runUntil(() => grantedAt() < Infinity);
    expect(lostAt()).toBeLessThan(grantedAt());
    expect(holder.events.at(-1)).toMatchObject({ type: 'lost' });
  });

  it('a holder hears of it where a server grants the session less, at once, not when the old end of certainty comes', async () => {
    const { holder, lostAt, grantedAt } = await contended(TICK_MS);
    for (const id of [1, 2, 3]) engine.faults.limitSessions(id, 2 * TICK_MS);
    engine.faults.suspend(holder.process);
    await engine.runUntil(() => holder.session.state === 'reconnected');
    engine.faults.blackHole(holder.process);
    await engine.runUntil(() => grantedAt() < Infinity);
    expect(lostAt()).toBeLessThan(grantedAt());
  });

  it('a holder hears of it where the answer to a re-attach never comes', async () => {
    const { holder, lostAt, grantedAt } = await contended(TICK_MS);
    for (const id of [1, 2, 3]) engine.faults.limitSessions(id, 2 * TICK_MS);
    const lost = engine.faults.loseReplyOfNext(holder.process, 'reattach');
    engine.faults.suspend(holder.process);
    await engine.runUntil(() => lost.hasHappened);
    engine.faults.refuse(holder.process);
    await engine.runUntil(() => grantedAt() < Infinity);
    expect(lostAt()).toBeLessThan(grantedAt());
    await engine.runFor(1);
    expect(holder.events.at(-1)).toMatchObject({ type: 'lost', error: expect.any(LockLostError) });
  });
});
