import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { InvalidLockKeyError, LockUnavailableError } from '../../../lib/lock/errors.js';
import type { LockSnapshot } from '../../../lib/lock/snapshot.js';
import { create } from '../../../lib/session/requests.js';
import { type Client, EngineWorld, rejection } from './support/engine-world.js';

const KEY = '/locks/stock';

describe('inspect()', () => {
  let engine: EngineWorld;
  let one: Client;
  let other: Client;

  beforeEach(async () => {
    engine = new EngineWorld();
    one = await engine.client('one');
    other = await engine.client('other');
  });
  afterEach(() => engine.end());

  const inspect = (client = one): Promise<LockSnapshot> => engine.settle(client.locks.inspect(KEY));

  it('of a key nobody ever used says free, and creates nothing', async () => {
    expect(await inspect()).toEqual({
      key: KEY,
      state: 'FREE',
      holders: [],
      queue: [],
      queueLength: 0,
      waitEstimateMs: undefined,
    });
    expect(engine.world.stat('/locks')).toBeUndefined();
  });

  it('shows the readers that hold, the queue in order, and who is behind each', async () => {
    const first = await engine.settle(one.locks.acquire(KEY, { mode: 'read', label: 'nightly report' }));
    const second = await engine.settle(other.locks.acquire(KEY, { mode: 'read', leaseMs: 60_000 }));
    const modes = ['write', 'read', 'exclusive'] as const;
    const waiting = modes.map((mode) => rejection(other.locks.acquire(KEY, { mode, waitMs: 1_000 })));
    await engine.runFor(50);
    const snapshot = await inspect();
    expect(snapshot).toMatchObject({ key: KEY, state: 'HELD', queueLength: 3 });
    expect(snapshot.holders.map(({ nodePath, fencingToken }) => [nodePath, fencingToken])).toEqual([
      [first.nodePath, first.fencingToken],
      [second.nodePath, second.fencingToken],
    ]);
    expect(snapshot.queue.map(({ mode }) => mode)).toEqual(modes);
    expect(snapshot.holders[0]).toMatchObject({
      mode: 'read',
      sessionId: one.session.identity?.id,
      client: { pid: process.pid, label: 'nightly report', mode: 'read', leaseMs: undefined, lockDelayMs: undefined },
    });
    expect(snapshot.holders[1]?.client).toMatchObject({ label: undefined, leaseMs: 60_000 });
    expect(snapshot.holders[0]?.client?.clientId).not.toBe(snapshot.holders[1]?.client?.clientId);
    await engine.settle(Promise.all(waiting));
  });

  it('shows contenders of another make, and ignores what is no contender', async () => {
    await engine.settle(one.session.batch([create('/locks', 'container'), create(KEY, 'container')]));
    await engine.settle(one.session.request(create(`${KEY}/nested`, 'persistent')));
    await engine.settle(one.session.request(create(`${KEY}/lock-`, 'ephemeral-sequential', Buffer.from('10.0.0.1'))));
    const snapshot = await inspect();
    expect(snapshot).toMatchObject({ state: 'HELD', queueLength: 0, queue: [] });
    expect(snapshot.holders).toHaveLength(1);
    expect(snapshot.holders[0]).toMatchObject({ mode: 'exclusive', client: undefined });
  });

  it('describes the first hundred of a longer queue, and counts all', async () => {
    await engine.settle(one.session.batch([create('/locks', 'container'), create(KEY, 'container')]));
    const many = Array.from({ length: 150 }, () => create(`${KEY}/lock-`, 'ephemeral-sequential'));
    await engine.settle(one.session.batch(many));
    const snapshot = await inspect();
    expect([snapshot.holders.length, snapshot.queue.length, snapshot.queueLength]).toEqual([1, 99, 149]);
  });

  it('does not say free because the link broke while it was asking who is there', async () => {
    engine.faults.setLatency(other.process, 20);
    const lock = await engine.settle(one.locks.acquire(KEY));
    const asked = other.locks.inspect(KEY);
    // There and back for the list, and the next question is on its way.
    await engine.runFor(50);
    engine.faults.suspend(other.process);
    const snapshot = await engine.settle(asked);
    expect([snapshot.state, snapshot.holders.map(({ nodePath }) => nodePath)]).toEqual(['HELD', [lock.nodePath]]);
  });

  it('estimates the wait from the last holds of this process', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    await engine.runFor(100);
    await engine.settle(lock.release());
    expect((await inspect()).waitEstimateMs).toBe(0);
    // Held for longer than usual by now, with one in front.
    await engine.settle(other.locks.acquire(KEY));
    const waiting = rejection(other.locks.acquire(KEY, { waitMs: 500 }));
    await engine.runFor(50);
    expect((await inspect()).waitEstimateMs).toBe(100);
    await engine.settle(waiting);
    expect((await inspect(other)).waitEstimateMs).toBeUndefined();
  });

  it('is EXPIRED after a holder that vanished, where there is a lock-delay, and FREE after one that did not', async () => {
    const careful = await engine.client('careful', { lockDelayMs: 2_000 });
    const orderly = await engine.settle(careful.locks.acquire(KEY));
    await engine.settle(orderly.release());
    expect((await inspect()).state).toBe('FREE');
    await engine.settle(careful.locks.acquire(KEY));
    engine.faults.expire(careful.session.identity!.id);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    expect(await inspect()).toMatchObject({ state: 'EXPIRED', holders: [] });
  });

  it('rejects for a bad key, and does not throw', async () => {
    const asked = one.locks.inspect('no key');
    expect(await engine.failure(asked)).toBeInstanceOf(InvalidLockKeyError);
  });

  it('rejects by its deadline while ZooKeeper is away', async () => {
    engine.faults.refuse(one.process);
    const before = engine.world.now();
    expect(await engine.failure(one.locks.inspect(KEY))).toBeInstanceOf(LockUnavailableError);
    expect(engine.world.now() - before).toBeLessThan(15_100);
  });
});
