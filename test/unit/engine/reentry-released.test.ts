import { describe, expect, it } from '@jest/globals';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { type Client, rejection, sleep } from './support/engine-world.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/account';

/** Ways of a call inside the lock to fail while the link is down. */
const WAYS: Record<string, (client: Client) => Promise<unknown>> = {
  'acquire()': ({ locks }) => locks.acquire(KEY, { waitMs: 100 }),
  'acquire() with waitMs: 0': ({ locks, process }) => {
    const abort = new AbortController();
    void sleep(process, 100).then(() => abort.abort());
    return locks.acquire(KEY, { waitMs: 0, signal: abort.signal });
  },
  'tryAcquire()': ({ locks }) => locks.tryAcquire(KEY, { waitMs: 100 }),
  'withLock()': ({ locks }) => locks.withLock(KEY, () => undefined, { waitMs: 100 }),
  'acquireAll()': ({ locks }) => locks.acquireAll([KEY], { waitMs: 100 }),
  'acquireAll() that fails at another key': ({ locks }) => locks.acquireAll([KEY, '/locks/other'], { waitMs: 100 }),
  'an acquire() that is aborted': ({ locks, process }) => {
    const abort = new AbortController();
    void sleep(process, 100).then(() => abort.abort());
    return locks.acquire(KEY, { signal: abort.signal });
  },
  'a transaction that ends meanwhile': ({ locks, process }) =>
    locks.transaction(async (tx) => {
      void tx.lock(KEY).catch(() => undefined);
      await sleep(process, 100);
      throw new Error('of the application');
    }),
};

describe('a call inside its own lock that fails while the link is down', () => {
  const { engine, one } = useEngine('one');

  it.each(Object.keys(WAYS))(
    'releases its handle, so that the lock goes when the one around it is done: %s',
    async (way) => {
      let failure: Error | undefined;
      const work = one.locks.withLock(KEY, async () => {
        engine.faults.refuse(one.process);
        await one.sleep(50);
        failure = await rejection(WAYS[way]!(one));
        engine.faults.accept(one.process);
        await one.sleep(1_000);
      });
      await engine.settle(work);
      await engine.runFor(100);
      expect([failure?.message === 'It did not fail.', engine.queue(KEY)]).toEqual([false, []]);
      const other = await engine.client('other');
      expect(await engine.settle(other.locks.tryAcquire(KEY))).toBeDefined();
    },
  );

  it('is told of as a failure, once, as any other acquire that fails', async () => {
    await engine.settle(
      one.locks.withLock(KEY, async () => {
        engine.faults.refuse(one.process);
        await one.sleep(50);
        await rejection(one.locks.acquire(KEY, { waitMs: 100 }));
        await rejection(one.locks.tryAcquire(KEY, { waitMs: 100 }));
        engine.faults.accept(one.process);
      }),
    );
    const failed = one.events.filter(({ type }) => type === 'failed');
    expect(failed).toEqual([
      expect.objectContaining({ key: KEY, error: expect.objectContaining({ code: 'LOCK_UNAVAILABLE' }) }),
      expect.objectContaining({ key: KEY, error: expect.objectContaining({ code: 'LOCK_UNAVAILABLE' }) }),
    ]);
  });

  it('releases its handle when the service closes while it waits', async () => {
    let outer: LockHandle | undefined;
    let inner: Promise<Error> | undefined;
    let done: () => void = () => undefined;
    const work = one.locks.withLock(KEY, async (lock) => {
      outer = lock;
      engine.faults.refuse(one.process);
      await one.sleep(50);
      inner = rejection(one.locks.acquire(KEY));
      await new Promise<void>((resolve) => (done = resolve));
    });
    await engine.runFor(100);
    one.locks.refuseNewRequests();
    expect(await engine.settle(inner!)).toMatchObject({ code: 'LOCK_CLOSED' });
    engine.faults.accept(one.process);
    await engine.runUntil(() => one.session.state === 'reconnected');
    done();
    await engine.settle(work);
    await engine.runFor(100);
    expect([outer?.isHeld(), engine.queue(KEY)]).toEqual([false, []]);
  });
});
