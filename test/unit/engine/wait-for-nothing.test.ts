import { describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../../lib/lock/errors.js';
import { EngineWorld } from './support/engine-world.js';

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
