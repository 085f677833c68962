import { describe, expect, it } from '@jest/globals';
import type { LockTransaction } from '../../../../lib/engine/lock-service.js';
import { currentFrame, type OwnerFrame } from '../../../../lib/engine/bounds/owner-context.js';
import {
  DeadlockError,
  LockAbortedError,
  LockConfigurationError,
  LockError,
  LockLostError,
} from '../../../../lib/lock/errors.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { remove } from '../../../../lib/session/requests.js';
import { type Client, EngineWorld, type Failure, rejection } from '../support/engine-world.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { useEngine } from '../support/use-engine.js';

describe('transaction()', () => {
  const { engine, one, other } = useEngine('one', 'other');

  it('lets two transfers between two accounts, from both sides, both happen, and nothing is lost', async () => {
    const balance = { a: 100, b: 100 };
    let runs = 0;
    const transfer = (client: Client, from: 'a' | 'b', to: 'a' | 'b', amount: number): Promise<string> =>
      client.locks.transaction(async (tx) => {
        runs += 1;
        await tx.lock(`/accounts/${from}`);
        const before = balance[from];
        await client.sleep(20);
        await tx.lock(`/accounts/${to}`);
        const beforeThere = balance[to];
        await client.sleep(20);
        balance[from] = before - amount;
        balance[to] = beforeThere + amount;
        return `${from} to ${to}`;
      });
    const results = await engine.settle(Promise.all([transfer(one, 'a', 'b', 10), transfer(other, 'b', 'a', 25)]));
    expect([results, balance]).toEqual([['a to b', 'b to a'], { a: 115, b: 85 }]);
    // They did get into each other's way.
    expect(runs).toBeGreaterThan(2);
    expect([engine.queue('/accounts/a'), engine.queue('/accounts/b')]).toEqual([[], []]);
  });

  it('gives a key it has once, also to those who ask at the same time', async () => {
    const handles = await engine.settle(
      one.locks.transaction(async (tx) => {
        const both = await Promise.all([tx.lock('/l/a'), tx.lock('/l/a'), tx.lock('/l/a', 'read')]);
        return [...both, await tx.lock('/l/a')];
      }),
    );
    expect(new Set(handles).size).toBe(1);
  });

  it('gives way, where it asks for several at the same time, to another that does so in the other order', async () => {
    const both = (client: Client, keys: readonly string[]): Promise<number> =>
      client.locks.transaction(async (tx) => {
        const locks = await Promise.all(keys.map((key) => tx.lock(key)));
        await client.sleep(20);
        return locks.length;
      });
    // Chance decides in which order the servers see them.
    for (let seed = 1; seed <= 10; seed += 1) {
      const chancy = new EngineWorld({ seed });
      const [left, right] = [await chancy.client('left'), await chancy.client('right')];
      const ends = [both(left, ['/l/a', '/l/b']), both(right, ['/l/b', '/l/a'])];
      expect(await chancy.settle(Promise.all(ends))).toEqual([2, 2]);
      await chancy.end();
    }
  });

  it('passes an error of the work untouched, and gives everything back', async () => {
    const failure = new Error('insufficient funds');
    const work = async (tx: LockTransaction): Promise<never> => {
      await tx.lock('/l/a');
      await tx.lock('/l/b', 'read');
      throw failure;
    };
    expect(await engine.failure(one.locks.transaction(work))).toBe(failure);
    expect([engine.queue('/l/a'), engine.queue('/l/b')]).toEqual([[], []]);
  });

  it('is run again when the work says that it was the victim of a deadlock, with new locks', async () => {
    const tokens: bigint[] = [];
    const result = await engine.settle(
      one.locks.transaction(async (tx) => {
        tokens.push((await tx.lock('/l/a')).fencingToken);
        if (tokens.length < 3) throw new DeadlockError('chosen', '/l/a');
        return 'done';
      }),
    );
    expect([result, tokens.length, new Set(tokens).size]).toEqual(['done', 3, 3]);
  });

  it('gives up on deadlocks by its deadline', async () => {
    await engine.settle(other.locks.acquire('/l/b'));
    const before = engine.world.now();
    const work = async (tx: LockTransaction): Promise<void> => {
      await tx.lock('/l/a');
      await tx.lock('/l/b');
    };
    expect(await engine.failure(one.locks.transaction(work))).toBeInstanceOf(LockError);
    expect(engine.world.now() - before).toBeLessThan(15_100);
    expect(engine.queue('/l/a')).toEqual([]);
  });

  it('acquires no more locks once it has ended, nor keeps one that came too late', async () => {
    const busy = await engine.settle(other.locks.acquire('/l/b'));
    let kept!: LockTransaction;
    let late!: Promise<Error>;
    await engine.settle(
      one.locks.transaction(async (tx) => {
        kept = tx;
        await tx.lock('/l/a');
        late = rejection(tx.lock('/l/b'));
      }),
    );
    expect(await engine.failure(kept.lock('/l/c'))).toBeInstanceOf(LockError);
    await engine.settle(busy.release());
    expect(await engine.settle(late)).toBeInstanceOf(LockError);
    await engine.runFor(50);
    expect(['/l/a', '/l/b'].map((key) => engine.queue(key))).toEqual([[], []]);
  });

  it('leaves nobody in a queue when it ends while one of its locks is waited for', async () => {
    await engine.settle(other.locks.acquire('/l/busy'));
    const watches = engine.world.watchCount;
    const failure = new Error('of the application');
    const waits: Promise<Failure>[] = [];
    const work = async (tx: LockTransaction): Promise<void> => {
      await tx.lock('/l/a');
      // The second is asked for, too, and would wait behind the first.
      waits.push(rejection(tx.lock('/l/busy')), rejection(tx.lock('/l/next')));
      await one.sleep(100);
      throw failure;
    };
    expect(await engine.failure(one.locks.transaction(work))).toBe(failure);
    await engine.runFor(50);
    expect(['/l/a', '/l/busy', '/l/next'].map((key) => engine.queue(key).length)).toEqual([0, 1, 0]);
    expect(engine.world.watchCount).toBe(watches);
    for (const error of await engine.settle(Promise.all(waits), 1)) {
      expect(error).toBeInstanceOf(LockAbortedError);
      expect(error.details).toMatch(/^The transaction has ended, and cannot acquire the lock \/l\/(busy|next)$/);
    }
  });

  it('waits for no other lock once one is lost', async () => {
    await engine.settle(other.locks.acquire('/l/busy'));
    const work = rejection(
      one.locks.transaction(async (tx) => {
        const lock = await tx.lock('/l/a');
        const waiting = rejection(tx.lock('/l/busy'));
        await one.sleep(400);
        await replyTo(other.session, remove(lock.nodePath));
        const error = await waiting;
        expect([error, tx.signal.reason]).toEqual([expect.any(LockLostError), error]);
        throw error;
      }),
    );
    await engine.runFor(500);
    expect(await engine.settle(work, 1)).toMatchObject({ code: 'LOCK_LOST', key: '/l/a' });
    expect(engine.queue('/l/busy').length).toBe(1);
  });

  it('tells of a lost lock on its signal, acquires no more, and does not succeed', async () => {
    const told: unknown[] = [];
    const work = rejection(
      one.locks.transaction(async (tx) => {
        const lock: LockHandle = await tx.lock('/l/a');
        await one.sleep(500);
        await replyTo(other.session, remove(lock.nodePath));
        await one.sleep(50);
        told.push(tx.signal.aborted, await rejection(tx.lock('/l/b')));
        return 'as if nothing had happened';
      }),
    );
    expect(await engine.settle(work)).toBeInstanceOf(LockLostError);
    await engine.runFor(50);
    expect(told).toEqual([true, expect.any(LockLostError)]);
  });

  it('does not succeed when certainty has ended meanwhile, before any news of that', async () => {
    let resume: () => void = () => undefined;
    const work = rejection(
      one.locks.transaction(async (tx) => {
        await tx.lock('/l/a');
        one.process.pause();
        await new Promise<void>((resolve) => void (resume = resolve));
        return 'looks fine';
      }),
    );
    await engine.runFor(6_000);
    resume();
    one.process.resume();
    expect(await engine.settle(work)).toBeInstanceOf(LockLostError);
  });

  it('leaves no lock in its context: what it left running must not keep them for as long as it lives', async () => {
    let frame: OwnerFrame | undefined;
    const work = async (tx: LockTransaction): Promise<number | undefined> => {
      frame = currentFrame();
      await Promise.all([tx.lock('/l/a'), tx.lock('/l/b')]);
      return frame?.locks.length;
    };
    expect(await engine.settle(one.locks.transaction(work))).toBe(2);
    expect([frame?.locks, engine.queue('/l/a'), engine.queue('/l/b')]).toEqual([[], [], []]);
  });

  it('shares what it has with calls inside, and refuses to wait for itself', async () => {
    await engine.settle(
      one.locks.transaction(async (tx) => {
        const lock = await tx.lock('/l/a');
        expect(await one.locks.withLock('/l/a', (inner) => inner.fencingToken)).toBe(lock.fencingToken);
        await tx.lock('/l/b', 'read');
        expect(await rejection(tx.lock('/l/b', 'write'))).toBeInstanceOf(LockConfigurationError);
      }),
    );
  });
});
