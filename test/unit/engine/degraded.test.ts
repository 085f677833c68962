import { describe, expect, it } from '@jest/globals';
import {
  LockClosedError,
  LockConfigurationError,
  LockLostError,
  LockTimeoutError,
  LockUnavailableError,
} from '../../../lib/lock/errors.js';
import { rejection, typesOf } from './support/engine-world.js';
import { useEngineWith } from './support/use-engine.js';

const KEY = '/locks/cache';

describe("whenUnavailable: 'local'", () => {
  const { engine, one } = useEngineWith({ local: 'when unavailable' }, 'one');

  const cutOff = async (): Promise<void> => {
    engine.faults.refuse(one.process);
    await engine.runUntil(() => one.session.state === 'lost');
  };

  it('gives out locks of the fleet while ZooKeeper is there', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    expect([lock.scope, lock.fencingToken > 0n, typesOf(one.events)]).toEqual(['fleet', true, ['acquired']]);
  });

  it('gives out a lock of this process when it is away, loudly, and without a token', async () => {
    await cutOff();
    const before = engine.world.now();
    const lock = await engine.settle(one.locks.acquire(KEY, { label: 'warm up' }));
    expect([lock.scope, lock.isHeld(), lock.key]).toEqual(['process', true, KEY]);
    expect(engine.world.now() - before).toBeLessThan(100);
    expect(() => lock.fencingToken).toThrow(LockConfigurationError);
    expect(typesOf(one.events)).toEqual(['failed', 'degraded', 'acquired']);
    expect(one.events.at(-2)).toMatchObject({ key: KEY, label: 'warm up' });
    expect(one.events.at(-1)).toMatchObject({ token: undefined });
  });

  it('tells of no token in any event either, also when the work goes on after the loss', async () => {
    await cutOff();
    const work = one.locks.withLock(KEY, () => one.sleep(300), { leaseMs: 100 });
    expect(await engine.failure(work)).toBeInstanceOf(LockLostError);
    await engine.runFor(300);
    const told = one.events.filter((event) => 'token' in event);
    expect(typesOf(told)).toEqual(['acquired', 'lost', 'late-result']);
    expect(told.every(({ token }) => token === undefined)).toBe(true);
  });

  it('excludes others in this process, by their deadline, and is re-entered', async () => {
    await cutOff();
    const lock = await engine.settle(one.locks.acquire(KEY));
    expect(await engine.failure(one.locks.acquire(KEY, { waitMs: 200 }))).toBeInstanceOf(LockTimeoutError);
    await engine.settle(lock.release());
    const scopes = await engine.settle(
      one.locks.withLock(KEY, (outer) => one.locks.withLock(KEY, (inner) => [outer.scope, inner.scope])),
    );
    expect(scopes).toEqual(['process', 'process']);
  });

  it('waits for ZooKeeper for half of the time at first, and acquires the real lock if that comes back', async () => {
    engine.faults.refuse(one.process);
    await engine.runUntil(() => one.session.state === 'suspended');
    const before = engine.world.now();
    const local = await engine.settle(one.locks.acquire(KEY, { waitMs: 1_000 }));
    expect([local.scope, engine.world.now() - before >= 500, engine.world.now() - before < 1_000]).toEqual([
      'process',
      true,
      true,
    ]);
    const waiting = one.locks.acquire(`${KEY}/2`, { waitMs: 4_000 });
    engine.faults.accept(one.process);
    expect((await engine.settle(waiting)).scope).toBe('fleet');
  });

  it('stands in for locks whose wait began while the link was up', async () => {
    const other = await engine.client('other');
    await engine.settle(other.locks.acquire(KEY));
    const waiting = one.locks.acquire(KEY, { waitMs: 2_000 });
    await engine.runFor(200);
    engine.faults.refuse(one.process);
    const before = engine.world.now();
    expect((await engine.settle(waiting)).scope).toBe('process');
    expect(engine.world.now() - before).toBeLessThanOrEqual(1_900);
  });

  it('does not stand in for a lock that is busy, nor for a service that is closing', async () => {
    const other = await engine.client('other');
    await engine.settle(other.locks.acquire(KEY));
    expect(await engine.failure(one.locks.acquire(KEY, { waitMs: 100 }))).toBeInstanceOf(LockTimeoutError);
    const waiting = rejection(one.locks.acquire(KEY));
    await engine.runFor(50);
    await engine.settle(one.locks.close(0));
    expect(await engine.settle(waiting)).toBeInstanceOf(LockClosedError);
    expect(typesOf(one.events)).not.toContain('degraded');
  });

  it.each(['away', 'back'])('gives its holders the grace when the service closes, with ZooKeeper %s', async (link) => {
    await cutOff();
    const inTime = one.locks.withLock(KEY, () => one.sleep(3_000).then(() => 'done'));
    const endless = rejection(one.locks.withLock(`${KEY}/2`, () => one.sleep(30_000)));
    await engine.runFor(50);
    if (link === 'back') {
      engine.faults.accept(one.process);
      await engine.runUntil(() => one.session.state.endsWith('connected'));
    }
    const before = engine.world.now();
    const closing = one.locks.close(5_000);
    expect(await engine.settle(inTime)).toBe('done');
    expect(await engine.settle(endless)).toMatchObject({ code: 'LOCK_LOST' });
    expect(engine.world.now() - before).toBeCloseTo(5_000, -2);
    await engine.settle(closing);
  });

  it('does not wait for the grace once its holders are done', async () => {
    await cutOff();
    const work = one.locks.withLock(KEY, () => one.sleep(300));
    await engine.runFor(50);
    engine.faults.accept(one.process);
    await engine.runUntil(() => one.session.state.endsWith('connected'));
    const before = engine.world.now();
    await engine.settle(one.locks.close(5_000));
    await engine.settle(work);
    expect(engine.world.now() - before).toBeLessThan(1_000);
  });

  it('is in force only where it was asked for', async () => {
    const strict = await engine.client('strict');
    engine.faults.refuse(strict.process);
    await engine.runFor(100);
    expect(await engine.failure(strict.locks.acquire(KEY, { waitMs: 300 }))).toBeInstanceOf(LockUnavailableError);
    expect(await engine.failure(strict.locks.tryAcquire(KEY))).toBeInstanceOf(LockUnavailableError);
  });
});
