import { describe, expect, it, jest } from '@jest/globals';
import {
  LockAbortedError,
  LockConfigurationError,
  LockLostError,
  LockTimeoutError,
} from '../../../../lib/lock/errors.js';
import type { LockMode } from '../../../../lib/lock/mode.js';
import { create, remove } from '../../../../lib/session/requests.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { rejection } from '../support/engine-world.js';
import { useEngine } from '../support/use-engine.js';

const KEY = '/locks/report';

describe('upgrade()', () => {
  const { engine, one, other } = useEngine('one', 'other');

  it('waits for the readers that are inside and lets no new one in; place and token stay', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    const reader = await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    const { fencingToken, nodePath } = upgrader;
    const upgrading = upgrader.upgrade();
    await engine.runFor(100);
    let entered = false;
    const late = other.locks.acquire(KEY, { mode: 'read' }).then((lock) => {
      entered = true;
      return lock;
    });
    await engine.runFor(100);
    expect([upgrader.mode, entered]).toEqual(['upgradeable', false]);
    await engine.settle(reader.release());
    await engine.settle(upgrading);
    await engine.runFor(100);
    expect([upgrader.mode, upgrader.fencingToken, upgrader.nodePath, entered]).toEqual([
      'write',
      fencingToken,
      nodePath,
      false,
    ]);
    await engine.settle(upgrader.release());
    await engine.settle((await engine.settle(late)).release());
    expect(engine.queue(KEY)).toEqual([]);
  });

  it.each(['exclusive', 'write'] as const)(
    'does not wait for a reader that stands behind a contender in mode %s: the three would wait in a circle',
    async (mode) => {
      const order: string[] = [];
      const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      const enter = async (asked: LockMode): Promise<void> => {
        const lock = await other.locks.acquire(KEY, { mode: asked });
        order.push(asked);
        await lock.release();
      };
      const alone = enter(mode);
      await engine.runFor(20);
      const reader = enter('read');
      await engine.runFor(20);
      expect(engine.queue(KEY)).toHaveLength(3);
      await engine.settle(upgrader.upgrade(), 100);
      expect([upgrader.mode, order]).toEqual(['write', []]);
      await engine.settle(upgrader.release());
      await engine.settle(Promise.all([alone, reader]));
      expect(order).toEqual([mode, 'read']);
    },
  );

  it('leaves the upgradeable hold, and no intent, when it times out', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    expect(await engine.failure(upgrader.upgrade({ waitMs: 50 }))).toBeInstanceOf(LockTimeoutError);
    await engine.runFor(50);
    expect([upgrader.isHeld(), upgrader.mode, engine.queue(KEY).length]).toEqual([true, 'upgradeable', 2]);
  });

  it('leaves no intent for longer than its lock, which is lost meanwhile, when it times out without a link', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable', leaseMs: 1_000 }));
    const reader = await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    const failed = rejection(upgrader.upgrade({ waitMs: 500 }));
    await engine.runFor(100);
    expect(engine.queue(KEY)).toHaveLength(3);
    engine.faults.refuse(one.process);
    await engine.runFor(1_500);
    expect(await engine.settle(failed)).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(upgrader.isHeld()).toBe(false);
    engine.faults.accept(one.process);
    await engine.runUntil(() => engine.queue(KEY).length < 3);
    // Alone, the intent would be a writer that waits.
    expect(engine.queue(KEY).filter((name) => name.includes('__WRIT__'))).toEqual([]);
    await engine.settle(reader.release());
  });

  it('leaves the upgradeable hold, and no intent, when it is aborted', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    const abort = new AbortController();
    const upgrading = rejection(upgrader.upgrade({ signal: abort.signal }));
    await engine.runFor(20);
    abort.abort();
    expect(await engine.settle(upgrading)).toBeInstanceOf(LockAbortedError);
    await engine.runFor(50);
    expect([upgrader.isHeld(), engine.queue(KEY).length]).toEqual([true, 2]);
  });

  it('tried again at once after a time-out does not build on the intent that is being removed', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    const reader = await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    expect(await engine.failure(upgrader.upgrade({ waitMs: 50 }))).toBeInstanceOf(LockTimeoutError);
    const again = upgrader.upgrade();
    await engine.runFor(50);
    await engine.settle(reader.release());
    await engine.settle(again);
    const beside = await engine.settle(other.locks.tryAcquire(KEY, { mode: 'read' }));
    expect([upgrader.mode, beside]).toEqual(['write', undefined]);
    await engine.settle(upgrader.release());
    expect(engine.queue(KEY)).toEqual([]);
  });

  it('asked for twice at once is done once, and leaves nothing when it is released', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    await engine.settle(Promise.all([upgrader.upgrade(), upgrader.upgrade()]));
    expect([upgrader.mode, engine.queue(KEY).length]).toEqual(['write', 2]);
    await engine.settle(upgrader.release());
    expect(engine.queue(KEY)).toEqual([]);
  });

  it('is lost when an operator removes its upgradeable node, and its intent does not block the key', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    await engine.settle(upgrader.upgrade());
    await engine.runFor(1_000);
    await engine.settle(replyTo(other.session, remove(upgrader.nodePath)));
    await engine.runFor(100);
    expect([upgrader.isHeld(), engine.queue(KEY)]).toEqual([false, []]);
    await engine.settle(other.locks.acquire(KEY, { waitMs: 100 }));
  });

  it('places another intent when an operator removes it before the readers are named in it', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    const reader = await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    const batch = one.session.batch.bind(one.session);
    let removed: string | undefined;
    jest.spyOn(one.session, 'batch').mockImplementation(async (requests) => {
      const [first] = requests;
      if (first?.op === 'set' && removed === undefined) {
        removed = first.path;
        await replyTo(other.session, remove(first.path));
      }
      return batch(requests);
    });
    const upgrading = upgrader.upgrade();
    await engine.runFor(300);
    await engine.settle(reader.release());
    await engine.settle(upgrading);
    expect(removed).toContain('__WRIT__');
    expect([upgrader.isHeld(), upgrader.mode, engine.queue(KEY).length]).toEqual([true, 'write', 2]);
    await engine.settle(upgrader.release());
    expect(engine.queue(KEY)).toEqual([]);
  });

  it('is refused beside readers of another make, which know nothing of names', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    const foreign = `${KEY}/_c_a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d-__READ__`;
    await engine.settle(replyTo(other.session, create(foreign, 'ephemeral-sequential')));
    expect(await engine.failure(upgrader.upgrade({ waitMs: 100 }))).toBeInstanceOf(LockConfigurationError);
    await engine.runFor(50);
    expect([upgrader.isHeld(), engine.queue(KEY).length]).toEqual([true, 2]);
  });

  it('ends with the loss when the lock is lost meanwhile', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable', leaseMs: 300 }));
    await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    expect(await engine.failure(upgrader.upgrade())).toBeInstanceOf(LockLostError);
    await engine.runFor(50);
    expect(engine.queue(KEY)).toHaveLength(1);
  });

  it('ends when the lock is released meanwhile, and its intent with it', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    const upgrading = rejection(upgrader.upgrade());
    await engine.runFor(50);
    await engine.settle(upgrader.release());
    const before = engine.world.now();
    expect(await engine.settle(upgrading)).toBeInstanceOf(LockLostError);
    await engine.runFor(50);
    expect([engine.world.now() - before, engine.queue(KEY).length]).toEqual([50, 1]);
  });

  it('goes on over a lost reply of its intent, which it finds again', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    const loss = engine.faults.loseReplyOfNext(one.process, 'create');
    await engine.settle(upgrader.upgrade());
    expect([loss.hasHappened, upgrader.mode, engine.queue(KEY).length]).toEqual([true, 'write', 2]);
  });

  it.each(['exclusive', 'write'] as const)('does nothing for %s', async (mode) => {
    const lock = await engine.settle(one.locks.acquire(KEY, { mode }));
    await engine.settle(lock.upgrade());
    expect([lock.mode, engine.queue(KEY).length]).toEqual([mode, 1]);
  });

  it('is refused for read, with what to do instead', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { mode: 'read' }));
    const error = await engine.failure(lock.upgrade());
    expect(error).toBeInstanceOf(LockConfigurationError);
    expect(error.details).toContain("mode 'upgradeable'");
  });
});
