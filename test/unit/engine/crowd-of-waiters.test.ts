import { describe, expect, it } from '@jest/globals';
import type { LinkRequest } from '../../../lib/session/core/link.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { type Client, SESSION_TIMEOUT_MS, typesOf } from './support/engine-world.js';
import { useEngine } from './support/use-engine.js';

const WAITERS = 2_000;
const KEY = '/locks/crowded';
const OPS: readonly LinkRequest['op'][] = ['create', 'delete', 'exists', 'get', 'list', 'multi', 'set', 'sync'];
/** An innocent request has an answer after so long, and so many requests of its process reach the servers before that. */
const INNOCENT_WITHIN_MS = 500;
const AHEAD_AT_MOST = 20;

describe('a crowd of waiters in one process', () => {
  const { engine, one, other } = useEngine('one', 'other');

  interface Crowd {
    readonly first: LockHandle;
    /** The lock of another key, which the process of the crowd holds. */
    readonly held: LockHandle;
    readonly waiting: Promise<LockHandle>[];
  }

  async function crowd(): Promise<Crowd> {
    const first = await engine.settle(other.locks.acquire(KEY));
    const held = await engine.settle(one.locks.acquire('/locks/held'));
    const waiting = callers(one, 600_000);
    await engine.runUntil(() => engine.queue(KEY).length === WAITERS + 1);
    await engine.runFor(1_000);
    return { first, held, waiting };
  }

  function callers(client: Client, waitMs: number): Promise<LockHandle>[] {
    return Array.from({ length: WAITERS }, () => client.locks.acquire(KEY, { waitMs }));
  }

  /** How many requests of these kinds have come to the servers since. */
  function counting(...ops: readonly LinkRequest['op'][]): () => number {
    const { traffic } = engine.world.ensemble;
    const sum = (): number => ops.reduce((total, op) => total + traffic.requests(op), 0);
    const before = sum();
    return () => sum() - before;
  }

  /** Somebody asks for a free key of no concern to the crowd, as soon as the link is up. */
  async function innocent(): Promise<{ readonly tookMs: number; readonly ahead: number }> {
    await engine.runUntil(() => ['connected', 'reconnected'].includes(one.session.state));
    const [ahead, from] = [counting(...OPS), engine.world.now()];
    const lock = await engine.settle(one.locks.acquire('/locks/innocent'));
    const cost = { tookMs: engine.world.now() - from, ahead: ahead() };
    await engine.settle(lock.release());
    return cost;
  }

  async function drain(waiting: readonly Promise<LockHandle>[]): Promise<void> {
    await engine.settle(Promise.all(waiting.map(async (lock) => (await lock).release())));
  }

  it('looks once after a cut, lets an innocent request pass, and loses nothing', async () => {
    const { first, held, waiting } = await crowd();
    const lists = counting('list');
    engine.faults.suspend(one.process);
    await engine.runUntil(() => one.session.state === 'suspended');

    const { tookMs, ahead } = await innocent();

    expect(tookMs).toBeLessThan(INNOCENT_WITHIN_MS);
    expect(ahead).toBeLessThan(AHEAD_AT_MOST);
    // One of the crowd, and one of the innocent request itself.
    expect(lists()).toBeLessThanOrEqual(2);
    expect([held.isHeld(), typesOf(one.events).includes('lost')]).toEqual([true, false]);
    await engine.settle(first.release());
    await drain(waiting);
  });

  it('takes its places anew after its session was lost, with a few lists, and lets an innocent request pass', async () => {
    const { first, waiting } = await crowd();
    const lists = counting('list');
    const { identity } = one.session;
    engine.faults.expire(identity!.id);
    await engine.runUntil(() => one.session.identity !== identity && one.session.identity !== undefined);

    const { tookMs } = await innocent();

    expect(tookMs).toBeLessThan(INNOCENT_WITHIN_MS);
    await engine.runUntil(() => engine.queue(KEY).length === WAITERS + 1);
    await engine.settle(first.release());
    await drain(waiting);
    expect(lists()).toBeLessThan(AHEAD_AT_MOST);
  });

  it('sweeps once for all creates that were not answered in a brown-out, and lets an innocent request pass', async () => {
    await engine.settle((await engine.settle(one.locks.acquire(KEY))).release());
    const lists = counting('list');
    engine.faults.blackHole(one.process, 'to-client');
    const ends = Promise.allSettled(callers(one, 1_500));
    const outcomes = await engine.settle(ends);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    engine.faults.pass(one.process);
    engine.faults.suspend(one.process);
    await engine.runUntil(() => one.session.state === 'suspended');

    const { tookMs } = await innocent();

    expect(tookMs).toBeLessThan(INNOCENT_WITHIN_MS);
    await engine.runFor(SESSION_TIMEOUT_MS);
    expect(engine.queue(KEY)).toEqual([]);
    expect(lists()).toBeLessThan(AHEAD_AT_MOST);
  });
});
