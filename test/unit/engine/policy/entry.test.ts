import { describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../../../lib/lock/errors.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import type { LockMode } from '../../../../lib/lock/mode.js';
import { rejection } from '../support/engine-world.js';
import { useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/cache';

describe("where whenUnavailable is 'local', and the callers of one service exclude each other,", () => {
  const { engine, one } = useEngineWith({ local: 'when unavailable' }, 'one');

  const cutOff = async (until: 'suspended' | 'lost'): Promise<void> => {
    engine.faults.refuse(one.process);
    await engine.runUntil(() => one.session.state === until);
  };
  const reconnect = async (): Promise<void> => {
    engine.faults.accept(one.process);
    await engine.runUntil(() => one.locks.connectionState.endsWith('connected'));
  };
  const acquire = (mode: LockMode, waitMs = 15_000): Promise<LockHandle> => one.locks.acquire(KEY, { mode, waitMs });
  /** Held while ZooKeeper was away; it is back now. */
  const standIn = async (mode: LockMode): Promise<LockHandle> => {
    await cutOff('lost');
    const lock = await engine.settle(acquire(mode));
    expect(lock.scope).toBe('process');
    await reconnect();
    return lock;
  };

  it('a lock that stands in waits for a suspended one of the fleet, until its certainty ends', async () => {
    const fleet = await engine.settle(acquire('exclusive'));
    await cutOff('suspended');
    expect(await engine.settle(one.locks.tryAcquire(KEY))).toBeUndefined();
    expect(await engine.failure(acquire('exclusive', 500))).toBeInstanceOf(LockTimeoutError);
    expect(fleet.isHeld()).toBe(true);
    let heldBeside: boolean | undefined;
    const local = await engine.settle(
      acquire('exclusive').then((lock) => {
        heldBeside = fleet.isHeld();
        return lock;
      }),
    );
    expect([local.scope, local.isHeld(), heldBeside]).toEqual(['process', true, false]);
  });

  it('a lock that stands in follows at once on the release of a suspended one', async () => {
    const fleet = await engine.settle(acquire('exclusive'));
    await cutOff('suspended');
    const waiting = acquire('exclusive', 1_000);
    await engine.runFor(600);
    void fleet.release();
    const before = engine.world.now();
    expect((await engine.settle(waiting)).scope).toBe('process');
    expect(engine.world.now() - before).toBeLessThan(50);
  });

  it('a lock of the fleet waits for one that stands in, with its place in the queue, and leaves nothing when its time is up', async () => {
    const local = await standIn('exclusive');
    expect(await engine.settle(one.locks.tryAcquire(KEY))).toBeUndefined();
    expect(await engine.failure(acquire('exclusive', 200))).toBeInstanceOf(LockTimeoutError);
    await engine.runFor(100);
    expect(engine.queue(KEY)).toEqual([]);

    const other = await engine.client('other');
    const order: string[] = [];
    const first = acquire('exclusive').then((lock) => {
      order.push(`one ${local.isHeld()}`);
      return lock;
    });
    await engine.runUntil(() => engine.queue(KEY).length === 1);
    const second = other.locks.acquire(KEY).then(() => order.push('other'));
    await engine.runFor(500);
    expect([order, engine.queue(KEY).length]).toEqual([[], 2]);
    await engine.settle(local.release());
    const fleet = await engine.settle(first);
    expect([fleet.scope, fleet.fencingToken > 0n]).toEqual(['fleet', true]);
    await engine.settle(fleet.release());
    await engine.settle(second);
    expect(order).toEqual(['one false', 'other']);
  });

  it('a lock of the fleet can be aborted at the door, and keeps its place over a short suspension', async () => {
    const local = await standIn('exclusive');
    const controller = new AbortController();
    const aborted = rejection(one.locks.acquire(KEY, { signal: controller.signal }));
    const waiting = acquire('exclusive');
    await engine.runUntil(() => engine.queue(KEY).length === 2);
    controller.abort();
    expect(await engine.settle(aborted)).toMatchObject({ code: 'LOCK_ABORTED' });
    await engine.runUntil(() => engine.queue(KEY).length === 1);
    const [place] = engine.queue(KEY);
    await cutOff('suspended');
    await reconnect();
    expect(engine.queue(KEY)).toEqual([place]);
    await engine.settle(local.release());
    const fleet = await engine.settle(waiting);
    expect([fleet.isHeld(), fleet.nodePath]).toEqual([true, `${KEY}/${place}`]);
  });

  it.each<[LockMode, LockMode]>([
    ['read', 'read'],
    ['read', 'upgradeable'],
    ['upgradeable', 'read'],
  ])('%s that stands in and %s of the fleet share', async (inside, asked) => {
    const local = await standIn(inside);
    const fleet = await engine.settle(one.locks.tryAcquire(KEY, { mode: asked }));
    expect([local.isHeld(), fleet?.isHeld(), fleet?.scope]).toEqual([true, true, 'fleet']);
  });

  it('an upgrade waits for readers that stand in, and keeps out those that come later', async () => {
    const reader = await standIn('read');
    const fleet = await engine.settle(acquire('upgradeable'));
    expect(await engine.failure(fleet.upgrade({ waitMs: 200 }))).toBeInstanceOf(LockTimeoutError);
    expect([fleet.mode, fleet.isHeld()]).toEqual(['upgradeable', true]);
    let heldBeside: boolean | undefined;
    const upgraded = fleet.upgrade().then(() => (heldBeside = reader.isHeld()));
    await engine.runFor(300);
    expect(fleet.mode).toBe('upgradeable');
    await engine.settle(reader.release());
    await engine.settle(upgraded);
    expect([fleet.mode, heldBeside]).toEqual(['write', false]);
    await cutOff('suspended');
    expect(await engine.settle(one.locks.tryAcquire(KEY, { mode: 'read' }))).toBeUndefined();
  });

  it('a reader whom an upgrader waits for does not wait for a writer that stands in and waits for the upgrader', async () => {
    const upgrader = await engine.settle(acquire('upgradeable'));
    await cutOff('suspended');
    const writer = acquire('write', 2_000);
    await engine.runFor(1_050);
    await reconnect();
    const reader = await engine.settle(acquire('read'), 200);
    const upgraded = upgrader.upgrade();
    await engine.settle(reader.release());
    await engine.settle(upgraded, 500);
    await engine.settle(upgrader.release());
    expect((await engine.settle(writer)).scope).toBe('process');
  });
});
