import { describe, expect, it } from '@jest/globals';
import { LockConfigurationError, LockLostError } from '../../../lib/lock/errors.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { rejection, typesOf } from './support/engine-world.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/report';

describe('leaseMs of a call inside its own lock', () => {
  const { engine, one } = useEngine('one');

  it('ends the lock when it is over, for all who share it, so that the next may enter', async () => {
    const other = await engine.client('other');
    let outer: LockHandle | undefined;
    const work = rejection(
      one.locks.withLock(KEY, async (lock) => {
        outer = lock;
        await one.locks.withLock(KEY, () => one.sleep(10_000), { leaseMs: 1_000 });
      }),
    );
    const next = other.locks.acquire(KEY);
    const before = engine.world.now();
    expect(await engine.settle(next)).toBeDefined();
    expect(engine.world.now() - before).toBeLessThan(1_100);
    expect([outer?.isHeld(), outer?.signal.aborted]).toEqual([false, true]);
    expect(await engine.settle(work)).toBeInstanceOf(LockLostError);
    expect(one.events.find(({ type }) => type === 'lost')).toMatchObject({ reason: 'lease-ended' });
  });

  it('is put off by extend() of that handle, and counts in remainingMs()', async () => {
    await engine.settle(
      one.locks.withLock(KEY, async (outer) => {
        const inner = await one.locks.acquire(KEY, { leaseMs: 300 });
        expect([outer.remainingMs() <= 300, inner.remainingMs() <= 300]).toEqual([true, true]);
        await one.sleep(250);
        inner.extend(1_000);
        await one.sleep(900);
        expect([inner.isHeld(), inner.remainingMs() <= 100]).toEqual([true, true]);
        await inner.release();
        expect(outer.remainingMs()).toBeGreaterThan(1_000);
      }),
    );
    expect(typesOf(one.events)).toEqual(['acquired', 'released']);
  });

  it('goes with that call: the lock around it goes on without an end', async () => {
    await engine.settle(
      one.locks.withLock(KEY, async (outer) => {
        await one.locks.withLock(KEY, () => one.sleep(10), { leaseMs: 200 });
        await one.sleep(1_000);
        expect(outer.isHeld()).toBe(true);
      }),
    );
    expect(typesOf(one.events)).toEqual(['acquired', 'released']);
  });

  it('cannot lengthen that of the lock: the one that ends first counts', async () => {
    const work = one.locks.withLock(KEY, () => one.locks.withLock(KEY, () => one.sleep(10_000), { leaseMs: 5_000 }), {
      leaseMs: 400,
    });
    const before = engine.world.now();
    expect(await engine.failure(work)).toBeInstanceOf(LockLostError);
    expect(engine.world.now() - before).toBeLessThan(500);
  });

  it('counts, if the lock was acquired with it, for as long as the lock is held, be the call that acquired it done', async () => {
    let inside: Promise<unknown> | undefined;
    const outer = one.locks.withLock(
      KEY,
      async () => {
        inside = rejection(one.locks.withLock(KEY, () => one.sleep(10_000), { leaseMs: 5_000 }));
        await one.sleep(10);
      },
      { leaseMs: 1_000 },
    );
    const before = engine.world.now();
    await engine.settle(outer);
    expect(engine.world.now() - before).toBeLessThan(100);
    expect(await engine.settle(inside!)).toBeInstanceOf(LockLostError);
    expect(engine.world.now() - before).toBeLessThan(1_100);
    expect(one.events.find(({ type }) => type === 'lost')).toMatchObject({ reason: 'lease-ended' });
  });

  it('ends the lock at the first of their ends where several are beside each other, and each goes alone', async () => {
    await engine.settle(
      one.locks.withLock(KEY, async (outer) => {
        const [short, long] = await Promise.all([
          one.locks.acquire(KEY, { leaseMs: 300 }),
          one.locks.acquire(KEY, { leaseMs: 900 }),
        ]);
        await short.release();
        await short.release();
        await one.sleep(600);
        expect([outer.isHeld(), outer.remainingMs() <= 300]).toEqual([true, true]);
        await long.release();
      }),
    );
  });

  it('is over on the clock before any timer ran', async () => {
    let outer: LockHandle | undefined;
    const work = rejection(
      one.locks.withLock(KEY, async (lock) => {
        outer = lock;
        await one.locks.withLock(KEY, () => one.sleep(5_000), { leaseMs: 500 });
      }),
    );
    await engine.runFor(100);
    one.process.pause();
    await engine.runFor(600);
    expect(outer?.isHeld()).toBe(false);
    one.process.resume();
    expect(await engine.settle(work)).toBeInstanceOf(LockLostError);
  });

  it('counts also for tryAcquire(), acquireAll() and waitMs: 0', async () => {
    const inside: (() => Promise<{ remainingMs(): number } | undefined>)[] = [
      () => one.locks.tryAcquire(KEY, { leaseMs: 300 }),
      () => one.locks.acquire(KEY, { leaseMs: 300, waitMs: 0 }),
      () => one.locks.acquireAll([KEY], { leaseMs: 300 }),
    ];
    for (const take of inside) {
      await engine.settle(
        one.locks.withLock(KEY, async (outer) => {
          await take();
          expect(outer.remainingMs()).toBeLessThanOrEqual(300);
        }),
      );
    }
  });

  it('is not made up where it has none: extend() puts off that of the lock, where that has one', async () => {
    await engine.settle(
      one.locks.withLock(
        KEY,
        async (outer) => {
          const inner = await one.locks.acquire(KEY);
          inner.extend(3_000);
          await one.sleep(1_000);
          expect(outer.isHeld()).toBe(true);
          await inner.release();
        },
        { leaseMs: 500 },
      ),
    );
    await engine.settle(
      one.locks.withLock(KEY, async () => {
        const inner = await one.locks.acquire(KEY);
        expect(() => inner.extend(3_000)).toThrow(LockConfigurationError);
        await inner.release();
      }),
    );
  });

  it('leaves no timer behind when the lock is released under it', async () => {
    const timers = (): number => one.events.filter(({ type }) => type === 'lost').length;
    const kept = await engine.settle(one.locks.withLock(KEY, () => one.locks.acquire(KEY, { leaseMs: 300 })));
    await engine.settle(kept.release());
    await engine.runFor(1_000);
    expect([timers(), engine.queue(KEY)]).toEqual([0, []]);
  });
});
