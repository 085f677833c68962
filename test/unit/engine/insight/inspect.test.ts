import { describe, expect, it } from '@jest/globals';
import { InvalidLockKeyError, LockUnavailableError } from '../../../../lib/lock/errors.js';
import type { LockSnapshot } from '../../../../lib/lock/snapshot.js';
import { create } from '../../../../lib/session/requests.js';
import { EngineWorld, rejection } from '../support/engine-world.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { useEngine } from '../support/use-engine.js';

const KEY = '/locks/stock';

describe('inspect()', () => {
  const { engine, one, other, eye } = useEngine('one', 'other', 'eye');

  const inspect = (client = one): Promise<LockSnapshot> => engine.settle(client.locks.inspect(KEY));

  it('says FREE of a key that nobody ever used, and creates nothing', async () => {
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
      sessionId: one.locks.sessionId,
      client: { pid: process.pid, label: 'nightly report', mode: 'read', leaseMs: undefined, lockDelayMs: undefined },
    });
    expect(snapshot.holders[1]?.client).toMatchObject({ label: undefined, leaseMs: 60_000 });
    expect(snapshot.holders[0]?.client?.clientId).not.toBe(snapshot.holders[1]?.client?.clientId);
    await engine.settle(Promise.all(waiting));
  });

  it('shows contenders of another make, and ignores what is no contender', async () => {
    await engine.settle(one.session.batch([create('/locks', 'container'), create(KEY, 'container')]));
    await engine.settle(replyTo(one.session, create(`${KEY}/nested`, 'persistent')));
    await engine.settle(replyTo(one.session, create(`${KEY}/lock-`, 'ephemeral-sequential', Buffer.from('10.0.0.1'))));
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

  it('does not say free because the holder left while it was asking who is there', async () => {
    for (let afterMs = 0; afterMs < 8; afterMs += 0.5) {
      const lock = await engine.settle(one.locks.acquire(KEY));
      const waiting = other.locks.acquire(KEY);
      await engine.runFor(50);
      const asked = eye.locks.inspect(KEY);
      await engine.runFor(afterMs);
      void lock.release();
      const { state, holders, queue, queueLength } = await engine.settle(asked);
      expect([afterMs, state, holders.length, queueLength - queue.length]).toEqual([afterMs, 'HELD', 1, 0]);
      await engine.settle((await engine.settle(waiting)).release());
    }
  });

  it('does not say free because all that it had listed left while it was asking who they are', async () => {
    engine.faults.setLatency(eye.process, 20);
    const lock = await engine.settle(one.locks.acquire(KEY));
    const asked = eye.locks.inspect(KEY);
    // There and back for the list, and the next question is on its way.
    await engine.runFor(50);
    await engine.settle(lock.release());
    const next = await engine.settle(other.locks.acquire(KEY));
    const { state, holders } = await engine.settle(asked);
    expect([state, holders.map(({ nodePath }) => nodePath)]).toEqual(['HELD', [next.nodePath]]);
  });

  it('comes to an end where holders come and go faster than it can look', async () => {
    engine.faults.setLatency(eye.process, 30);
    let isOver = false;
    const busy = (async (): Promise<void> => {
      while (!isOver) await (await one.locks.acquire(KEY)).release();
    })();
    const snapshot = await engine.settle(eye.locks.inspect(KEY), 1_000);
    expect(snapshot.queue).toEqual([]);
    isOver = true;
    await engine.settle(busy);
  });

  it('shows a reader that an upgrader did not name in the queue: it waits', async () => {
    for (const inside of [0, 1]) {
      const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      const readers = inside === 0 ? [] : [await engine.settle(eye.locks.acquire(KEY, { mode: 'read' }))];
      const abort = new AbortController();
      const writing = rejection(other.locks.acquire(KEY, { mode: 'write', signal: abort.signal }));
      await engine.runFor(50);
      const waiting = other.locks.acquire(KEY, { mode: 'read' });
      await engine.runFor(50);
      const upgrading = upgrader.upgrade();
      await engine.runFor(50);
      abort.abort();
      await engine.settle(writing);
      await engine.runFor(50);
      const snapshot = await inspect();
      expect(snapshot.holders.map(({ mode }) => mode)).toEqual(
        inside === 0 ? ['upgradeable'] : ['upgradeable', 'read'],
      );
      expect([snapshot.queue.map(({ mode }) => mode), snapshot.queueLength]).toEqual([['read'], 1]);
      await engine.settle(Promise.all(readers.map((reader) => reader.release())));
      await engine.settle(upgrading);
      expect((await inspect()).holders.map(({ mode }) => mode)).toEqual(['upgradeable']);
      await engine.settle(upgrader.release());
      await engine.settle((await engine.settle(waiting)).release());
    }
  });

  it('shows the readers inside as holders while an upgrader waits for them', async () => {
    // The names of these are on their way for longer than one look takes.
    engine.faults.setLatency(one.process, 4);
    for (let afterMs = 0; afterMs < 30; afterMs += 1) {
      const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      const reader = await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
      const upgrading = upgrader.upgrade();
      await engine.runFor(afterMs);
      const { holders, queue, queueLength } = await inspect(eye);
      const modes = holders.map(({ mode }) => mode);
      expect([afterMs, modes, queue, queueLength]).toEqual([afterMs, ['upgradeable', 'read'], [], 0]);
      await engine.settle(reader.release());
      await engine.settle(upgrading);
      await engine.settle(upgrader.release());
    }
  });

  it('estimates the wait from the last holds of this process', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    await engine.runFor(100);
    await engine.settle(lock.release());
    expect((await inspect()).waitEstimateMs).toBe(0);
    // Held for longer than usual by now, with one in front.
    await engine.settle(other.locks.acquire(KEY));
    const waiting = rejection(other.locks.acquire(KEY, { waitMs: 500 }));
    await engine.runFor(150);
    expect((await inspect()).waitEstimateMs).toBe(100);
    await engine.settle(waiting);
    expect((await inspect(other)).waitEstimateMs).toBeUndefined();
  });

  it('does not say EXPIRED after a holder that releases the lock while several look at once', async () => {
    for (let afterMs = 0; afterMs < 6; afterMs += 0.25) {
      const engine = new EngineWorld();
      const [one, eye] = [await engine.client('one', { lockDelayMs: 5_000 }), await engine.client('eye')];
      const lock = await engine.settle(one.locks.acquire('/locks/a'));
      const looks = [1, 2, 3].map(() => eye.locks.inspect('/locks/a'));
      await engine.runFor(afterMs);
      void lock.release();
      for (const { state } of await engine.settle(Promise.all(looks)))
        expect({ afterMs, state }).not.toMatchObject({ state: 'EXPIRED' });
      await engine.end();
    }
  });

  it('says EXPIRED after a holder that vanished, where there is a lock-delay, and FREE after one that did not', async () => {
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
