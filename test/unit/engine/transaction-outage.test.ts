import { describe, expect, it } from '@jest/globals';
import type { LockTransaction } from '../../../lib/engine/lock-service.js';
import { DeadlockError, LockLostError, LockTimeoutError, LockUnavailableError } from '../../../lib/lock/errors.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { remove } from '../../../lib/session/requests.js';
import { type Client, EngineWorld, rejection, typesOf } from './support/engine-world.js';
import { replyTo } from '../../support/sessions/reply-to.js';

/** Longer than the longest wait that a transaction of 4 s takes for no circle. */
const OUTAGE_MS = 1_500;
const SEEDS = Array.from({ length: 10 }, (_, index) => index + 1);

async function withWorld(seed: number, test: (engine: EngineWorld) => Promise<void>): Promise<void> {
  const engine = new EngineWorld({ seed });
  await test(engine);
  await engine.end();
}

async function outage(engine: EngineWorld, client: Client): Promise<void> {
  engine.faults.refuse(client.process);
  await client.sleep(OUTAGE_MS);
  engine.faults.accept(client.process);
}

describe('a transaction that waits for its second lock while ZooKeeper is away', () => {
  it.each(SEEDS)('goes on when it is back, as acquire() does, and ran once (seed %d)', (seed) =>
    withWorld(seed, async (engine) => {
      const one = await engine.client('one', { waitMs: 4_000 });
      let runs = 0;
      const work = one.locks.transaction(async (tx) => {
        runs += 1;
        const first = await tx.lock('/l/a');
        const away = outage(engine, one);
        await one.sleep(20);
        const alone = one.locks.acquire('/l/alone');
        const second = await tx.lock('/l/b');
        await away;
        return [first.isHeld(), second.isHeld(), (await alone).isHeld()];
      });
      expect(await engine.settle(work)).toEqual([true, true, true]);
      expect(runs).toBe(1);
    }),
  );

  it.each(SEEDS)('keeps its place behind another and takes no circle for granted (seed %d)', (seed) =>
    withWorld(seed, async (engine) => {
      const one = await engine.client('one', { waitMs: 4_000 });
      const other = await engine.client('other');
      const busy = await engine.settle(other.locks.acquire('/l/b'));
      let runs = 0;
      const work = one.locks.transaction(async (tx) => {
        runs += 1;
        await tx.lock('/l/a');
        const second = tx.lock('/l/b');
        await one.sleep(20);
        await outage(engine, one);
        await busy.release();
        return (await second).isHeld();
      });
      expect(await engine.settle(work)).toBe(true);
      expect(runs).toBe(1);
    }),
  );

  it('says that ZooKeeper was away when it is so until the deadline', () =>
    withWorld(1, async (engine) => {
      const one = await engine.client('one', { waitMs: 2_000 });
      const before = engine.world.now();
      const work = one.locks.transaction(async (tx) => {
        await tx.lock('/l/a');
        engine.faults.refuse(one.process);
        await one.sleep(20);
        await tx.lock('/l/b');
      });
      expect(await engine.failure(work)).toBeInstanceOf(LockUnavailableError);
      expect(engine.world.now() - before).toBeGreaterThanOrEqual(2_000);
    }));

  it('stops suspecting a circle once it has the lock', () =>
    withWorld(1, async (engine) => {
      const one = await engine.client('one', { waitMs: 2_000 });
      const other = await engine.client('other');
      const busy = await engine.settle(other.locks.acquire('/l/b'));
      const work = one.locks.transaction(async (tx) => {
        await tx.lock('/l/a');
        const second = tx.lock('/l/b');
        await one.sleep(50);
        await busy.release();
        const lock = await second;
        await one.sleep(1_800);
        return lock.isHeld();
      });
      expect(await engine.settle(work)).toBe(true);
      expect(typesOf(one.events)).not.toContain('failed');
    }));
});

describe('a transaction under waitMs: 0', () => {
  const lockBoth = async (tx: LockTransaction): Promise<void> => {
    await tx.lock('/l/a');
    await tx.lock('/l/b');
  };

  it('tries each lock once, and runs its work once: who does not wait waits in no circle', () =>
    withWorld(1, async (engine) => {
      const one = await engine.client('one', { waitMs: 0 });
      const other = await engine.client('other');
      const busy = await engine.settle(other.locks.acquire('/l/b'));
      let runs = 0;
      const before = engine.world.now();
      const work = one.locks.transaction((tx) => {
        runs += 1;
        return lockBoth(tx);
      });
      expect(await engine.failure(work)).toBeInstanceOf(LockTimeoutError);
      expect([runs, engine.world.now() - before < 100, engine.queue('/l/a')]).toEqual([1, true, []]);
      await engine.settle(busy.release());
      await engine.settle(one.locks.transaction(lockBoth));
    }));

  it('is not run again for a deadlock that its work tells of either', () =>
    withWorld(1, async (engine) => {
      const one = await engine.client('one', { waitMs: 0 });
      const chosen = new DeadlockError('chosen', '/l/a');
      let runs = 0;
      const work = one.locks.transaction(() => {
        runs += 1;
        throw chosen;
      });
      expect([await engine.failure(work), runs]).toEqual([chosen, 1]);
    }));
});

describe('a transaction one of whose locks is lost', () => {
  it('rejects at that moment, whatever its work still does, and loses the others with it', () =>
    withWorld(1, async (engine) => {
      const [one, other] = [await engine.client('one'), await engine.client('other')];
      let locks: LockHandle[] = [];
      let nested: Promise<Error> | undefined;
      const work = rejection(
        one.locks.transaction(async (tx) => {
          locks = [await tx.lock('/l/a'), await tx.lock('/l/b')];
          await one.sleep(3_000);
          nested = rejection(one.locks.acquire('/l/b'));
          return 'too late';
        }),
      );
      await engine.runFor(500);
      const [a, b] = locks as [LockHandle, LockHandle];
      expect([a.signal.aborted, b.signal.aborted]).toEqual([false, false]);
      await engine.settle(replyTo(other.session, remove(a.nodePath)));
      expect(await engine.settle(work, 100)).toMatchObject({ code: 'LOCK_LOST', key: '/l/a' });
      expect([a.isHeld(), b.isHeld(), b.signal.aborted]).toEqual([false, false, true]);
      await engine.runFor(50);
      expect(engine.queue('/l/b')).toEqual([]);
      await engine.runFor(3_000);
      // What still runs inside is told of the loss; it does not acquire the lock anew.
      expect(await nested).toBeInstanceOf(LockLostError);
      const late = one.events.filter(({ type }) => type === 'late-result');
      expect(late).toEqual([expect.objectContaining({ key: '/l/a', error: undefined, token: a.fencingToken })]);
    }));

  it('passes on what its work fails with before that', () =>
    withWorld(1, async (engine) => {
      const one = await engine.client('one');
      const failure = new Error('of the application');
      let fail: (error: Error) => void = () => undefined;
      const work = rejection(
        one.locks.transaction(async (tx) => {
          await tx.lock('/l/a');
          await new Promise((_resolve, reject) => void (fail = reject));
        }),
      );
      await engine.runFor(100);
      one.process.pause();
      await engine.runFor(6_000);
      fail(failure);
      expect(await engine.settle(work)).toBe(failure);
      one.process.resume();
    }));

  it('leaves a lock that the code around it shares to that code', () =>
    withWorld(1, async (engine) => {
      const [one, other] = [await engine.client('one'), await engine.client('other')];
      const work = one.locks.withLock('/l/outer', async (outer) => {
        const lost = one.locks.transaction(async (tx) => {
          const inner = await tx.lock('/l/a');
          await tx.lock('/l/outer');
          await one.sleep(500);
          await replyTo(other.session, remove(inner.nodePath));
          await one.sleep(500);
        });
        return [await rejection(lost), outer.isHeld()];
      });
      expect(await engine.settle(work)).toEqual([expect.any(LockLostError), true]);
    }));
});
