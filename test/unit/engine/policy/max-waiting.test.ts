import { describe, expect, it } from '@jest/globals';
import { type LockError, LockQueueFullError } from '../../../../lib/lock/errors.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { isUp } from '../../../../lib/session/connection-state.js';
import { create, list } from '../../../../lib/session/requests.js';
import { rejection } from '../support/engine-world.js';
import { useEngine, useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/a';

/** What came of each call, as far as it is known by now. */
function watchAll(calls: readonly Promise<LockHandle>[]): string[] {
  const states = calls.map(() => 'waits');
  calls.forEach((call, index) => {
    void call.then(
      () => (states[index] = 'holds'),
      (error: LockError) => (states[index] = error.code),
    );
  });
  return states;
}

describe('maxWaiting', () => {
  const { engine, one, other } = useEngine('one', 'other');

  /** How many such requests have come to the servers since. */
  function counting(...ops: ('list' | 'create' | 'sync' | 'delete' | 'multi')[]): () => number {
    const { traffic } = engine.world.ensemble;
    const total = (): number => ops.reduce((sum, op) => sum + traffic.requests(op), 0);
    const before = total();
    return () => total() - before;
  }

  async function contend(client: typeof one, times: number): Promise<Promise<LockHandle>[]> {
    const calls = [];
    for (let index = 0; index < times; index += 1) {
      const call = client.locks.acquire(KEY);
      calls.push(call);
      void rejection(call);
      await engine.runFor(50);
    }
    return calls;
  }

  async function fill(client: typeof one, times: number): Promise<void> {
    void (await contend(client, times));
  }

  it('0 does not wait behind anybody, and takes a free lock', async () => {
    const lock = await engine.settle(other.locks.acquire(KEY, { maxWaiting: 0 }));
    const error = await engine.failure(one.locks.acquire(KEY, { maxWaiting: 0 }));
    expect(error).toBeInstanceOf(LockQueueFullError);
    expect(error).toMatchObject({ code: 'LOCK_QUEUE_FULL', status: 429, key: KEY });
    expect(error.details).toMatch(
      /^The queue of \/locks\/a is full: 1 ahead, .* and maxWaiting is 0\. Try again later, hold/,
    );
    await engine.settle(lock.release());
    await engine.settle(one.locks.acquire(KEY, { maxWaiting: 0 }));
  });

  it('lets so many wait, of exclusive locks, and the next one in when one has had its turn', async () => {
    const [lock, ...waiting] = await contend(other, 3);
    const states = watchAll([one.locks.acquire(KEY, { maxWaiting: 2 }), one.locks.acquire(KEY, { maxWaiting: 3 })]);
    await engine.runFor(50);
    expect(states).toEqual(['LOCK_QUEUE_FULL', 'waits']);
    expect(engine.queue(KEY)).toHaveLength(4);
    await engine.settle((await lock!).release());
    const late = one.locks.acquire(KEY, { maxWaiting: 3 });
    await engine.runFor(50);
    expect(engine.queue(KEY)).toHaveLength(4);
    for (const each of waiting) await engine.settle((await engine.settle(each)).release());
    await engine.runFor(50);
    expect(states).toEqual(['LOCK_QUEUE_FULL', 'holds']);
    void rejection(late);
  });

  it('costs a full queue no write, and a read batch where only the servers know that it is full', async () => {
    await fill(other, 2);
    const [writes, reads] = [counting('create', 'delete', 'multi'), counting('sync', 'list')];
    expect(await engine.failure(one.locks.acquire(KEY, { maxWaiting: 1 }))).toBeInstanceOf(LockQueueFullError);
    expect([writes(), reads()]).toEqual([0, 2]);
    expect(await engine.failure(other.locks.acquire(KEY, { maxWaiting: 1 }))).toBeInstanceOf(LockQueueFullError);
    expect([writes(), reads()]).toEqual([0, 2]);
  });

  it('is exact inside one process: of 1 000 calls in one turn, one holds and as many wait as may', async () => {
    await engine.settle(one.locks.withLock(KEY, () => undefined));
    const [lists, creates] = [counting('list'), counting('create')];
    const states = watchAll(Array.from({ length: 1_000 }, () => one.locks.acquire(KEY, { maxWaiting: 3 })));
    await engine.runFor(200);
    expect(states.slice(0, 4)).toEqual(['holds', 'waits', 'waits', 'waits']);
    expect(new Set(states.slice(4))).toEqual(new Set(['LOCK_QUEUE_FULL']));
    expect(engine.queue(KEY)).toHaveLength(4);
    expect(creates()).toBe(4);
    // One read for the four that may be let in, and the looks that they share as contenders.
    expect(lists()).toBeLessThanOrEqual(3);
  });

  it('counts calls without a bound that are being created at the same moment', async () => {
    const unbounded = [one.locks.acquire(KEY), one.locks.acquire(KEY)];
    const full = one.locks.acquire(KEY, { maxWaiting: 1 });
    expect(await engine.failure(full)).toBeInstanceOf(LockQueueFullError);
    for (const call of unbounded) await engine.settle((await engine.settle(call)).release());
  });

  it('counts a call without a bound whose create is under way when the list comes that was sent before it', async () => {
    const states = watchAll([one.locks.acquire(KEY, { maxWaiting: 0 })]);
    const lists = counting('list');
    await engine.runUntil(() => lists() > 0);
    // The answer is on its way.
    states.push(...watchAll([one.locks.acquire(KEY, { waitMs: 1_000 })]));
    await engine.runFor(50);
    expect(states[0]).toBe('LOCK_QUEUE_FULL');
    expect(engine.queue(KEY)).toHaveLength(1);
  });

  it('counts a call that asked before only as long as that goes on', async () => {
    const gives = new AbortController();
    const first = rejection(one.locks.acquire(KEY, { maxWaiting: 5, signal: gives.signal }));
    gives.abort();
    expect(await engine.settle(first)).toMatchObject({ code: 'LOCK_ABORTED' });
    const lock = await engine.settle(one.locks.acquire(KEY, { maxWaiting: 0 }));
    await engine.settle(lock.release());
  });

  it('does not count a neighbour that has departed, though its node may still be there', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    // The list shows the node: the release comes behind it.
    const call = one.locks.acquire('/locks/a', { maxWaiting: 0 });
    expect(await engine.failure(call)).toBeInstanceOf(LockQueueFullError);
    void lock.release();
    const states = watchAll([one.locks.acquire(KEY, { maxWaiting: 0 })]);
    await engine.runFor(50);
    expect(states).toEqual(['holds']);
  });

  it('does not count a neighbour that departs while the list that shows it is under way', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    const [next] = await contend(other, 1);
    const states = watchAll([one.locks.acquire(KEY, { maxWaiting: 1 })]);
    // It has been let through by its own process, where one is ahead. In the list there are two.
    void lock.release();
    await engine.runFor(50);
    expect(states).toEqual(['waits']);
    await engine.settle((await next!).release());
  });

  it('counts a contender that is being created, and is in the list, once', async () => {
    const states = watchAll([one.locks.acquire(KEY), one.locks.acquire(KEY, { maxWaiting: 1 })]);
    await engine.runFor(50);
    expect(states).toEqual(['holds', 'waits']);
  });

  it('counts readers that are inside as one, and does not let readers count for readers', async () => {
    for (let readers = 0; readers < 5; readers += 1) await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    const states = watchAll([
      one.locks.acquire(KEY, { mode: 'write', maxWaiting: 1 }),
      one.locks.acquire(KEY, { mode: 'read', maxWaiting: 0 }),
      one.locks.acquire(KEY, { mode: 'read', maxWaiting: 1 }),
    ]);
    await engine.runFor(50);
    expect(states).toEqual(['waits', 'LOCK_QUEUE_FULL', 'waits']);
    const beside = '/locks/b';
    const many = watchAll(Array.from({ length: 50 }, () => one.locks.acquire(beside, { mode: 'read', maxWaiting: 0 })));
    await engine.runFor(100);
    expect(new Set(many)).toEqual(new Set(['holds']));
  });

  it('shares its looks: 50 readers in one turn cost one list, and those that come later one more', async () => {
    await engine.settle(other.locks.acquire(KEY));
    const lists = counting('list');
    const ask = (): Promise<Error>[] =>
      Array.from({ length: 50 }, () => rejection(one.locks.acquire(KEY, { mode: 'read', maxWaiting: 0 })));
    const first = ask();
    await Promise.resolve();
    await Promise.resolve();
    const second = [...ask(), ...ask()];
    for (const error of await engine.settle(Promise.all([...first, ...second])))
      expect(error).toBeInstanceOf(LockQueueFullError);
    expect(lists()).toBe(2);
  });

  it('never refuses re-entry', async () => {
    await engine.settle(
      one.locks.withLock(KEY, async () => {
        const waiting = rejection(other.locks.acquire(KEY, { waitMs: 500 }));
        await one.sleep(50);
        await one.locks.withLock(KEY, () => undefined, { maxWaiting: 0 });
        await one.locks.withLock(KEY, () => undefined, { mode: 'read', maxWaiting: 0 });
        await waiting;
      }),
    );
  });

  it('means nothing to calls that try once: busy is what they say', async () => {
    await fill(other, 3);
    expect(await engine.settle(one.locks.tryAcquire(KEY, { maxWaiting: 0 }))).toBeUndefined();
    const error = await engine.failure(one.locks.acquire(KEY, { waitMs: 0, maxWaiting: 0 }));
    expect(error).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });

  it('bounds each key of acquireAll, which then holds none', async () => {
    await engine.settle(other.locks.acquire('/locks/b'));
    const error = await engine.failure(one.locks.acquireAll(['/locks/a', '/locks/b'], { maxWaiting: 0 }));
    expect(error).toMatchObject({ code: 'LOCK_QUEUE_FULL', key: '/locks/b' });
    await engine.runFor(50);
    expect(engine.queue('/locks/a')).toEqual([]);
  });

  it('says when to try again where this process knows how long the lock is held', async () => {
    for (let times = 0; times < 3; times += 1) await engine.settle(one.locks.withLock(KEY, () => one.sleep(400)));
    await fill(other, 3);
    const error = (await engine.failure(one.locks.acquire(KEY, { maxWaiting: 1 }))) as LockQueueFullError;
    expect(error.retryAfterMs).toBeGreaterThan(790);
    expect(error.retryAfterMs).toBeLessThan(830);
    expect(error.details).toContain(`in about ${error.retryAfterMs} ms`);
    const unknown = (await engine.failure(other.locks.acquire(KEY, { maxWaiting: 1 }))) as LockQueueFullError;
    expect(unknown.retryAfterMs).toBeUndefined();
  });

  it('tells the event stream of a refused call as failed, and leaves nothing', async () => {
    await fill(other, 1);
    const error = await engine.failure(one.locks.acquire(KEY, { maxWaiting: 0, label: 'report' }));
    expect(one.events).toEqual([
      {
        type: 'failed',
        key: KEY,
        mode: 'exclusive',
        label: 'report',
        template: undefined,
        owner: expect.any(String),
        error,
        waitedMs: expect.any(Number),
        busy: false,
      },
    ]);
    await engine.runFor(50);
    expect(engine.queue(KEY)).toHaveLength(1);
  });

  it('waits for the link where ZooKeeper is away, and bounds meanwhile how many callers of the process do', async () => {
    engine.faults.refuse(one.process);
    await engine.runUntil(() => one.session.state === 'suspended');
    const states = watchAll(Array.from({ length: 20 }, () => one.locks.acquire(KEY, { maxWaiting: 2, waitMs: 3_000 })));
    await engine.runFor(100);
    expect(states.slice(0, 4)).toEqual(['waits', 'waits', 'waits', 'LOCK_QUEUE_FULL']);
    engine.faults.accept(one.process);
    await engine.runFor(2_000);
    expect(states.slice(0, 4)).toEqual(['holds', 'waits', 'waits', 'LOCK_QUEUE_FULL']);
    expect(engine.queue(KEY)).toHaveLength(3);
  });

  it('ends by its deadline as unavailable, not as full, where ZooKeeper stays away', async () => {
    await fill(other, 3);
    engine.faults.refuse(one.process);
    await engine.runUntil(() => one.session.state === 'suspended');
    const error = await engine.failure(one.locks.acquire(KEY, { maxWaiting: 0, waitMs: 1_000 }));
    expect(error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  });

  it('reads again where the answer to its look is lost', async () => {
    await fill(other, 1);
    engine.faults.loseReplyOfNext(one.process, 'list');
    expect(await engine.failure(one.locks.acquire(KEY, { maxWaiting: 0 }))).toBeInstanceOf(LockQueueFullError);
    engine.faults.loseReplyOfNext(one.process, 'list');
    const states = watchAll([one.locks.acquire(KEY, { maxWaiting: 1 })]);
    await engine.runFor(5_000);
    expect(states).toEqual(['waits']);
  });

  it('lets a contender whose session has ended queue again, however many are ahead by then', async () => {
    const [lock] = await contend(other, 1);
    const call = one.locks.acquire(KEY, { maxWaiting: 1, waitMs: 60_000 });
    await engine.runFor(50);
    await fill(other, 2);
    engine.faults.blackHole(one.process);
    await engine.runFor(10_000);
    engine.faults.heal();
    engine.faults.pass(one.process);
    await engine.runUntil(() => isUp(one.session.state), 60_000);
    const states = watchAll([call]);
    await engine.runFor(1_000);
    expect(states).toEqual(['waits']);
    await engine.settle((await lock!).release());
  });

  it('says why the queue cannot be read', async () => {
    await engine.settle(other.session.batch([create('/locks', 'container'), create(KEY, 'container')]));
    const long = Array.from({ length: 6 }, (_, index) => `${KEY}/${String(index).padStart(900_000, 'x')}`);
    await engine.settle(other.session.batch(long.map((path) => create(path, 'persistent'))));
    const error = await engine.failure(one.locks.acquire(KEY, { maxWaiting: 5 }));
    expect(error).toMatchObject({ code: 'LOCK_CONFIGURATION', details: expect.stringContaining('cannot be read') });
    expect(await engine.settle(one.session.batch([list('/locks')]))).toHaveLength(1);
  });
});

describe('maxWaiting of the module', () => {
  const { engine, one, other } = useEngineWith({ maxWaiting: 0 }, 'one', 'other');

  it('counts for every call that says nothing else, in transactions, too; Infinity takes it away', async () => {
    const held = await engine.settle(other.locks.acquire(KEY));
    expect(await engine.failure(one.locks.acquire(KEY))).toBeInstanceOf(LockQueueFullError);
    expect(await engine.failure(one.locks.withLock(KEY, () => undefined))).toBeInstanceOf(LockQueueFullError);
    const work = one.locks.transaction(async (tx) => {
      await tx.lock('/locks/mine');
      await tx.lock(KEY);
    });
    expect(await engine.failure(work)).toBeInstanceOf(LockQueueFullError);
    expect(engine.queue('/locks/mine')).toEqual([]);
    const states = watchAll([one.locks.acquire(KEY, { maxWaiting: Infinity })]);
    await engine.runFor(50);
    expect(states).toEqual(['waits']);
    await engine.settle(held.release());
    await engine.runFor(50);
    expect(states).toEqual(['holds']);
  });
});

describe("maxWaiting with whenUnavailable: 'local'", () => {
  const { engine, one } = useEngineWith({ maxWaiting: 1, local: 'when unavailable' }, 'one');

  it('bounds the queue of the process as well, which counts its own', async () => {
    engine.faults.refuse(one.process);
    await engine.runFor(20_000);
    const states = watchAll(Array.from({ length: 4 }, () => one.locks.acquire(KEY)));
    await engine.runFor(1_000);
    expect(states).toEqual(['holds', 'waits', 'LOCK_QUEUE_FULL', 'LOCK_QUEUE_FULL']);
    expect(engine.queue(KEY)).toEqual([]);
  });
});
