import { describe, expect, it } from '@jest/globals';
import { LockTimeoutError, LockUnavailableError } from '../../../lib/lock/errors.js';
import { type Client, EngineWorld, rejection } from './support/engine-world.js';

const KEY = '/locks/a';

describe('waitMs: 0 means: try once', () => {
  it('a free lock is taken', async () => {
    const world = new EngineWorld();
    const { locks } = await world.client('a');
    const lock = await world.world.settle(locks.acquire(KEY, { waitMs: 0 }));
    expect(lock.isHeld()).toBe(true);
  });

  it('a busy one is told at once', async () => {
    const world = new EngineWorld();
    const [one, other] = [await world.client('a'), await world.client('b')];
    await world.world.settle(one.locks.acquire(KEY));
    const before = world.world.now();
    await expect(world.world.settle(other.locks.acquire(KEY, { waitMs: 0 }))).rejects.toBeInstanceOf(LockTimeoutError);
    expect(world.world.now() - before).toBeLessThan(100);
  });

  it('for a module whose waitMs is 0, too', async () => {
    const world = new EngineWorld();
    const { locks } = await world.client('a', { waitMs: 0 });
    const lock = await world.world.settle(locks.acquire(KEY));
    expect(lock.isHeld()).toBe(true);
  });

  it('a busy one is a failure on the event stream, as after any other wait', async () => {
    const world = new EngineWorld();
    const [one, other] = [await world.client('a'), await world.client('b')];
    await world.settle(one.locks.acquire(KEY));
    const error = await world.failure(other.locks.acquire(KEY, { waitMs: 0, mode: 'read', label: 'report' }));
    expect(other.events).toEqual([
      { type: 'failed', key: KEY, mode: 'read', label: 'report', error, waitedMs: expect.any(Number) },
    ]);
    // For tryAcquire() busy is a result.
    expect(await world.settle(other.locks.tryAcquire(KEY))).toBeUndefined();
    expect(other.events).toHaveLength(1);
  });

  it.each([
    ['acquire() with waitMs: 0', ({ locks }: Client) => locks.acquire(KEY, { waitMs: 0, label: 'report' })],
    ['withLock() with waitMs: 0', ({ locks }: Client) => locks.withLock(KEY, () => 1, { waitMs: 0, label: 'report' })],
    ['tryAcquire()', ({ locks }: Client) => locks.tryAcquire(KEY, { label: 'report' })],
  ])('a try that fails is told of once on the event stream, as any other: %s', async (_what, attempt) => {
    const world = new EngineWorld();
    const one = await world.client('a');
    world.faults.refuse(one.process);
    await world.runUntil(() => one.session.state === 'suspended');
    const unavailable = await world.failure(attempt(one));
    expect(unavailable).toBeInstanceOf(LockUnavailableError);
    const abort = new AbortController();
    world.faults.accept(one.process);
    await world.runUntil(() => one.session.state === 'reconnected');
    world.faults.blackHole(one.process);
    const aborting = rejection(one.locks.tryAcquire(KEY, { signal: abort.signal, label: 'report' }));
    await world.runFor(10);
    abort.abort();
    const aborted = await world.settle(aborting);
    const facts = { type: 'failed', key: KEY, mode: 'exclusive', label: 'report', waitedMs: expect.any(Number) };
    expect(one.events).toEqual([
      { ...facts, error: unavailable },
      { ...facts, error: aborted },
    ]);
    world.faults.pass(one.process);
    await world.end();
  });

  describe('for upgrade()', () => {
    it('with no reader inside the lock is upgraded, also where the module says 0', async () => {
      const world = new EngineWorld();
      const [one, other] = [await world.client('a'), await world.client('b', { waitMs: 0 })];
      const lock = await world.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      await world.settle(lock.upgrade({ waitMs: 0 }));
      const by = await world.settle(other.locks.acquire('/locks/b', { mode: 'upgradeable' }));
      await world.settle(by.upgrade());
      expect([lock.mode, by.mode]).toEqual(['write', 'write']);
      await world.end();
    });

    it('a reader inside is told of at once, the hold goes on, and no intent is left', async () => {
      const world = new EngineWorld();
      const [one, other] = [await world.client('a'), await world.client('b')];
      const lock = await world.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      const reader = await world.settle(other.locks.acquire(KEY, { mode: 'read' }));
      const before = world.world.now();
      expect(await world.failure(lock.upgrade({ waitMs: 0 }))).toBeInstanceOf(LockTimeoutError);
      expect(world.world.now() - before).toBeLessThan(100);
      expect([lock.isHeld(), lock.mode]).toEqual([true, 'upgradeable']);
      await world.runFor(50);
      expect(world.queue(KEY)).toHaveLength(2);
      await world.settle(reader.release());
      await world.settle(lock.upgrade({ waitMs: 0 }));
      expect(lock.mode).toBe('write');
      await world.end();
    });

    it('another upgrade of the same hold that waits is somebody in the way', async () => {
      const world = new EngineWorld();
      const [one, other] = [await world.client('a'), await world.client('b')];
      const lock = await world.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      const reader = await world.settle(other.locks.acquire(KEY, { mode: 'read' }));
      const waiting = rejection(lock.upgrade({ waitMs: 200 }));
      await world.runFor(50);
      const before = world.world.now();
      expect(await world.failure(lock.upgrade({ waitMs: 0 }))).toBeInstanceOf(LockTimeoutError);
      expect(world.world.now() - before).toBeLessThan(100);
      await world.settle(reader.release());
      expect((await world.settle(waiting)).message).toBe('It did not fail.');
      expect(lock.mode).toBe('write');
      await world.end();
    });

    it('no connection is not called busy, and is not waited for', async () => {
      const world = new EngineWorld();
      const one = await world.client('a');
      const lock = await world.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      world.faults.refuse(one.process);
      await world.runUntil(() => one.session.state === 'suspended');
      const before = world.world.now();
      expect(await world.failure(lock.upgrade({ waitMs: 0 }))).toBeInstanceOf(LockUnavailableError);
      expect(world.world.now()).toBe(before);
    });
  });
});

describe('While the service refuses new requests', () => {
  it('a holder may share its own lock to the end', async () => {
    const world = new EngineWorld();
    const { locks } = await world.client('a');
    const done = locks.withLock(KEY, async () => {
      locks.refuseNewRequests();
      return locks.withLock(KEY, () => 'inner');
    });
    await expect(world.world.settle(done)).resolves.toBe('inner');
    await expect(world.world.settle(locks.acquire(KEY))).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  });
});
