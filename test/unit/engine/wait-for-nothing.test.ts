import { describe, expect, it } from '@jest/globals';
import { LockTimeoutError, LockUnavailableError } from '../../../lib/lock/errors.js';
import { type Client, rejection } from './support/engine-world.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/a';

describe('with waitMs: 0, which means to try once,', () => {
  const { engine, one, other } = useEngine('one', 'other');

  it('a free lock is acquired', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { waitMs: 0 }));
    expect(lock.isHeld()).toBe(true);
  });

  it('a busy lock is told of at once', async () => {
    await engine.settle(one.locks.acquire(KEY));
    const before = engine.world.now();
    await expect(engine.settle(other.locks.acquire(KEY, { waitMs: 0 }))).rejects.toBeInstanceOf(LockTimeoutError);
    expect(engine.world.now() - before).toBeLessThan(100);
  });

  it('a free lock is acquired, too, where the module says 0', async () => {
    const hasty = await engine.client('hasty', { waitMs: 0 });
    const lock = await engine.settle(hasty.locks.acquire(KEY));
    expect(lock.isHeld()).toBe(true);
  });

  it('a busy lock is a failure on the event stream, as after any other wait', async () => {
    await engine.settle(one.locks.acquire(KEY));
    const error = await engine.failure(other.locks.acquire(KEY, { waitMs: 0, mode: 'read', label: 'report' }));
    expect(other.events).toEqual([
      {
        type: 'failed',
        key: KEY,
        mode: 'read',
        label: 'report',
        template: undefined,
        owner: expect.any(String),
        error,
        waitedMs: expect.any(Number),
        busy: true,
      },
    ]);
    // For tryAcquire() busy is a result.
    expect(await engine.settle(other.locks.tryAcquire(KEY))).toBeUndefined();
    expect(other.events).toHaveLength(1);
  });

  it.each([
    ['acquire() with waitMs: 0', ({ locks }: Client) => locks.acquire(KEY, { waitMs: 0, label: 'report' })],
    ['withLock() with waitMs: 0', ({ locks }: Client) => locks.withLock(KEY, () => 1, { waitMs: 0, label: 'report' })],
    ['tryAcquire()', ({ locks }: Client) => locks.tryAcquire(KEY, { label: 'report' })],
  ])('a try that fails is told of once on the event stream, as any other: %s', async (_what, attempt) => {
    engine.faults.refuse(one.process);
    await engine.runUntil(() => one.session.state === 'suspended');
    const unavailable = await engine.failure(attempt(one));
    expect(unavailable).toBeInstanceOf(LockUnavailableError);
    const abort = new AbortController();
    engine.faults.accept(one.process);
    await engine.runUntil(() => one.session.state === 'reconnected');
    engine.faults.blackHole(one.process);
    const aborting = rejection(one.locks.tryAcquire(KEY, { signal: abort.signal, label: 'report' }));
    await engine.runFor(10);
    abort.abort();
    const aborted = await engine.settle(aborting);
    const facts = {
      type: 'failed',
      key: KEY,
      mode: 'exclusive',
      label: 'report',
      template: undefined,
      owner: expect.any(String),
      waitedMs: expect.any(Number),
      busy: false,
    };
    expect(one.events).toEqual([
      { ...facts, error: unavailable },
      { ...facts, error: aborted },
    ]);
    engine.faults.pass(one.process);
  });

  describe('upgrade()', () => {
    it('upgrades the lock with no reader inside, also where the module says 0', async () => {
      const hasty = await engine.client('hasty', { waitMs: 0 });
      const lock = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      await engine.settle(lock.upgrade({ waitMs: 0 }));
      const by = await engine.settle(hasty.locks.acquire('/locks/b', { mode: 'upgradeable' }));
      await engine.settle(by.upgrade());
      expect([lock.mode, by.mode]).toEqual(['write', 'write']);
    });

    it('tells at once of a reader inside: the hold goes on, and no intent is left', async () => {
      const lock = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      const reader = await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
      const before = engine.world.now();
      expect(await engine.failure(lock.upgrade({ waitMs: 0 }))).toBeInstanceOf(LockTimeoutError);
      expect(engine.world.now() - before).toBeLessThan(100);
      expect([lock.isHeld(), lock.mode]).toEqual([true, 'upgradeable']);
      await engine.runFor(50);
      expect(engine.queue(KEY)).toHaveLength(2);
      await engine.settle(reader.release());
      await engine.settle(lock.upgrade({ waitMs: 0 }));
      expect(lock.mode).toBe('write');
    });

    it('takes another upgrade of the same hold that waits for somebody in the way', async () => {
      const lock = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      const reader = await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
      const waiting = rejection(lock.upgrade({ waitMs: 200 }));
      await engine.runFor(50);
      const before = engine.world.now();
      expect(await engine.failure(lock.upgrade({ waitMs: 0 }))).toBeInstanceOf(LockTimeoutError);
      expect(engine.world.now() - before).toBeLessThan(100);
      await engine.settle(reader.release());
      expect((await engine.settle(waiting)).message).toBe('It did not fail.');
      expect(lock.mode).toBe('write');
    });

    it('does not call a lock busy without a connection, nor wait for one', async () => {
      const lock = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      engine.faults.refuse(one.process);
      await engine.runUntil(() => one.session.state === 'suspended');
      const before = engine.world.now();
      expect(await engine.failure(lock.upgrade({ waitMs: 0 }))).toBeInstanceOf(LockUnavailableError);
      expect(engine.world.now()).toBe(before);
    });
  });
});

describe('While the service refuses new requests,', () => {
  const { engine, one } = useEngine('one');

  it('a holder may share its own lock to the end', async () => {
    const { locks } = one;
    const done = locks.withLock(KEY, async () => {
      locks.refuseNewRequests();
      return locks.withLock(KEY, () => 'inner');
    });
    await expect(engine.settle(done)).resolves.toBe('inner');
    await expect(engine.settle(locks.acquire(KEY))).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  });
});
