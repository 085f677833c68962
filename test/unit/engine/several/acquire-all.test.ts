import { describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import type { AcquiredLock } from '../../../../lib/engine/acquire/lock-calls.js';
import type { Hold } from '../../../../lib/engine/hold/hold.js';
import { canonicalOrder, HeldLocks, SharedFate } from '../../../../lib/engine/several/acquire-all.js';
import { GrowingTransaction } from '../../../../lib/engine/several/transaction.js';
import { Deadline } from '../../../../lib/lock/deadline.js';
import {
  InvalidLockKeyError,
  LockAbortedError,
  LockConfigurationError,
  type LockError,
  LockLostError,
  LockTimeoutError,
  LockUnavailableError,
} from '../../../../lib/lock/errors.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { remove } from '../../../../lib/session/requests.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { ManualClock } from '../../support/manual-clock.js';
import { type Client, rejection } from '../support/engine-world.js';
import { useEngine } from '../support/use-engine.js';

describe('the order in which several locks are acquired', () => {
  it('is the same whatever order they are named in: by code units, not by locale', () => {
    const keys = ['/b', '/a', '/B', '/a/c', '/ä', '/10', '/9'];
    const expected = ['/10', '/9', '/B', '/a', '/a/c', '/b', '/ä'];
    expect(canonicalOrder(keys, 'exclusive').map(({ key }) => key)).toEqual(expected);
    expect(canonicalOrder([...keys].reverse(), 'exclusive').map(({ key }) => key)).toEqual(expected);
  });

  it('has each key once, in the strongest mode it was asked for in', () => {
    const keys = [
      { key: '/a', mode: 'read' },
      '/b',
      { key: '/a', mode: 'write' },
      { key: '/b', mode: 'read' },
      '/b',
    ] as const;
    // From JavaScript: as the type has it, one without a mode is the key alone.
    expect(canonicalOrder([{ key: '/a' } as { key: string; mode: 'read' }], 'read')).toEqual([
      { key: '/a', mode: 'read' },
    ]);
    expect(canonicalOrder(keys, 'upgradeable')).toEqual([
      { key: '/a', mode: 'write' },
      { key: '/b', mode: 'upgradeable' },
    ]);
  });
});

describe('acquireAll()', () => {
  const { engine, one, other } = useEngine('one', 'other');

  it('acquires all, each with its token, and releases all', async () => {
    const all = await engine.settle(one.locks.acquireAll(['/l/b', { key: '/l/c', mode: 'read' }, '/l/a', '/l/b']));
    expect(all.locks.map(({ key, mode }) => [key, mode])).toEqual([
      ['/l/a', 'exclusive'],
      ['/l/b', 'exclusive'],
      ['/l/c', 'read'],
    ]);
    const tokens = ['/l/a', '/l/b', '/l/c'].map((key) => all.fencingToken(key));
    expect(tokens[0]! < tokens[1]! && tokens[1]! < tokens[2]!).toBe(true);
    expect(() => all.fencingToken('/l/d')).toThrow(InvalidLockKeyError);
    expect([all.isHeld(), all.remainingMs() > 0, all.signal.aborted]).toEqual([true, true, false]);
    await engine.settle(all.whenSure());
    await engine.settle(all.release());
    await engine.settle(all.release());
    expect([all.isHeld(), all.remainingMs(), all.signal.aborted]).toEqual([false, 0, false]);
    for (const key of ['/l/a', '/l/b', '/l/c']) expect(engine.queue(key)).toEqual([]);
  });

  it('has one deadline for all, and leaves nothing when the last one is not to be had', async () => {
    const busy = await engine.settle(other.locks.acquireAll(['/l/b', '/l/c']));
    const before = engine.world.now();
    const waiting = one.locks.acquireAll(['/l/c', '/l/a', '/l/b'], { waitMs: 1_000 });
    await engine.runFor(500);
    void busy.locks[0]!.release();
    expect(await engine.failure(waiting)).toBeInstanceOf(LockTimeoutError);
    expect(engine.world.now() - before).toBeLessThan(1_050);
    await engine.runFor(50);
    expect(['/l/a', '/l/b', '/l/c'].map((key) => engine.queue(key).length)).toEqual([0, 0, 1]);
  });

  it('settles by its deadline also when the link is gone by then and nothing can be released', async () => {
    await engine.settle(other.locks.acquire('/l/b'));
    const calm = await engine.client('calm', { waitMs: 3_000 });
    const before = engine.world.now();
    const waiting = rejection(calm.locks.acquireAll(['/l/a', '/l/b']));
    await engine.runFor(2_500);
    engine.faults.refuse(calm.process);
    expect(await engine.settle(waiting)).toBeInstanceOf(LockUnavailableError);
    expect(engine.world.now() - before).toBeLessThan(3_050);
    engine.faults.accept(calm.process);
    await engine.runUntil(() => engine.queue('/l/a').length === 0);
  });

  it.each([
    ['cut off', (): void => engine.faults.refuse(one.process)],
    ['not yet known to be cut off', (): void => engine.faults.blackHole(one.process)],
  ])('settles as soon as it is aborted, although nothing can be released: %s', async (_how, cut) => {
    await engine.settle(other.locks.acquire('/l/c'));
    const abort = new AbortController();
    const waiting = rejection(one.locks.acquireAll(['/l/a', '/l/b', '/l/c'], { signal: abort.signal }));
    await engine.runFor(500);
    cut();
    await engine.runFor(50);
    abort.abort();
    expect(await engine.settle(waiting, 1)).toBeInstanceOf(LockAbortedError);
    engine.faults.pass(one.process);
    engine.faults.accept(one.process);
    await engine.runUntil(() => ['/l/a', '/l/b'].every((key) => engine.queue(key).length === 0));
  });

  it('has released what it had when it tells that another is busy', async () => {
    await engine.settle(other.locks.acquire('/l/c'));
    expect(await engine.failure(one.locks.acquireAll(['/l/a', '/l/b', '/l/c'], { waitMs: 0 }))).toBeInstanceOf(
      LockTimeoutError,
    );
    expect(['/l/a', '/l/b', '/l/c'].map((key) => engine.queue(key).length)).toEqual([0, 0, 1]);
  });

  it('checks all keys and modes before it acquires the first', async () => {
    expect(await engine.failure(one.locks.acquireAll(['/l/a', 'no key']))).toBeInstanceOf(InvalidLockKeyError);
    const mode = 'shared' as unknown as 'read';
    expect(await engine.failure(one.locks.acquireAll(['/l/a', { key: '/l/b', mode }]))).toBeInstanceOf(
      LockConfigurationError,
    );
    expect(engine.world.stat('/l')).toBeUndefined();
  });

  it.each([
    ['its lease is over', 100],
    ['somebody removes its node', undefined],
  ])('waits for no other one when it loses one that it has: %s', async (_why, leaseMs) => {
    await engine.settle(other.locks.acquire('/l/c'));
    const lost = rejection(one.locks.acquireAll(['/l/a', '/l/b', '/l/c'], leaseMs === undefined ? {} : { leaseMs }));
    await engine.runFor(500);
    if (leaseMs === undefined) await engine.settle(replyTo(other.session, remove(`/l/a/${engine.queue('/l/a')[0]!}`)));
    await engine.runFor(50);
    expect(await engine.settle(lost, 1)).toMatchObject({ code: 'LOCK_LOST', key: '/l/a' });
    expect(['/l/a', '/l/b', '/l/c'].map((key) => engine.queue(key).length)).toEqual([0, 0, 1]);
  });

  it('loses all when it loses one: told at once, and the others released', async () => {
    const all = await engine.settle(one.locks.acquireAll(['/l/a', '/l/b']));
    await engine.runFor(1_000);
    await engine.settle(replyTo(other.session, remove(all.locks[1]!.nodePath)));
    await engine.runFor(50);
    expect([all.isHeld(), all.signal.aborted, all.locks[0]!.isHeld()]).toEqual([false, true, false]);
    expect(all.signal.reason).toBeInstanceOf(LockLostError);
    expect(() => all.assertHeld()).toThrow(LockLostError);
    // Also to who looks at one of the others only.
    expect(all.locks[0]!.signal.reason).toBeInstanceOf(LockLostError);
    const lost = one.events.filter(({ type }) => type === 'lost');
    expect(new Map(lost.map((event) => [event.key, event.type === 'lost' && event.reason]))).toEqual(
      new Map([
        ['/l/a', 'sibling-lost'],
        ['/l/b', 'removed'],
      ]),
    );
    expect(engine.queue('/l/a')).toEqual([]);
  });

  it('gives one that a caller further out holds back to that caller when it loses another', async () => {
    const kept = await engine.settle(
      one.locks.withLock('/l/a', async (outer) => {
        const all = await one.locks.acquireAll(['/l/a', '/l/b']);
        await one.sleep(500);
        await replyTo(other.session, remove(all.locks[1]!.nodePath));
        await one.sleep(50);
        return [all.isHeld(), outer.isHeld(), outer.signal.aborted];
      }),
    );
    expect(kept).toEqual([false, true, false]);
  });

  it('does not wait in a circle when called from both sides, in opposite orders', async () => {
    const rounds = async (client: Client, keys: string[]): Promise<number> => {
      for (let round = 0; round < 20; round += 1) {
        const all = await client.locks.acquireAll(keys, { waitMs: 5_000 });
        await client.sleep(3);
        await all.release();
      }
      return 20;
    };
    expect(await engine.settle(Promise.all([rounds(one, ['/l/a', '/l/b']), rounds(other, ['/l/b', '/l/a'])]))).toEqual([
      20, 20,
    ]);
  });

  it('puts no listener for each of its locks on its own signal, and leaves none on that of a lock that others share', async () => {
    const keys = Array.from({ length: 20 }, (_, index) => `/l/${index}`);
    await engine.settle(
      one.locks.withLock('/l/0', async (lock) => {
        for (let round = 0; round < 3; round += 1) {
          const all = await one.locks.acquireAll(keys);
          // Node warns of a leak from the eleventh on.
          expect([lock, all].map(({ signal }) => getEventListeners(signal, 'abort').length)).toEqual([0, 0]);
          await all.release();
          expect(getEventListeners(lock.signal, 'abort')).toEqual([]);
        }
      }),
    );
  });
});

/** A lock that somebody further out has, too: it goes on when those who share it are done. */
class SharedLock {
  readonly listeners = new Set<(error: LockLostError) => void>();
  readonly #controller = new AbortController();
  readonly owned: AcquiredLock;
  releases = 0;
  #error: LockLostError | undefined;

  constructor(readonly key: string) {
    const hold: Pick<Hold, 'onLost' | 'lossError' | 'loseWithSiblings'> = {
      onLost: (listener) => {
        if (this.#error === undefined) this.listeners.add(listener);
        else listener(this.#error);
        return () => void this.listeners.delete(listener);
      },
      lossError: () => this.#error,
      loseWithSiblings: () => undefined,
    };
    const handle: Pick<LockHandle, 'key' | 'mode' | 'signal' | 'release'> = {
      key,
      mode: 'exclusive',
      signal: this.#controller.signal,
      release: async () => void (this.releases += 1),
    };
    this.owned = { hold: hold as Hold, handle: handle as LockHandle };
  }

  get listenerCount(): number {
    return this.listeners.size + getEventListeners(this.#controller.signal, 'abort').length;
  }

  lose(): LockLostError {
    this.#error = new LockLostError(`${this.key} was lost`, this.key);
    this.#controller.abort(this.#error);
    for (const listener of [...this.listeners]) listener(this.#error);
    return this.#error;
  }
}

const locks = (): [SharedLock, SharedLock, SharedLock] => [
  new SharedLock('/a'),
  new SharedLock('/b'),
  new SharedLock('/c'),
];
const counts = (some: readonly SharedLock[]): number[] => some.map(({ listenerCount }) => listenerCount);

describe('locks held together', () => {
  it('leave no listener on a lock that others re-entered when they are released', async () => {
    const all = locks();
    const held = new HeldLocks(all.map(({ owned }) => owned));
    expect(counts(all)).toEqual([1, 1, 1]);
    await held.release();
    expect(counts(all)).toEqual([0, 0, 0]);
    all[1].lose();
    expect(held.signal.aborted).toBe(false);
  });

  it('leave no listener either when one of them is lost, or was lost before they came together', () => {
    const lostLater = locks();
    const held = new HeldLocks(lostLater.map(({ owned }) => owned));
    const error = lostLater[1].lose();
    expect(held.signal.reason).toMatchObject({ code: 'LOCK_LOST', key: '/a', cause: error });
    expect(counts(lostLater)).toEqual([0, 0, 0]);

    const lostBefore = locks();
    lostBefore[1].lose();
    expect(new HeldLocks(lostBefore.map(({ owned }) => owned)).signal.aborted).toBe(true);
    expect(counts(lostBefore)).toEqual([0, 0, 0]);
  });

  it('are not told of one that they no longer have anything to do with', () => {
    const told: string[] = [];
    const fate = new SharedFate(({ details }) => told.push(details));
    const [a, b, c] = locks();
    a.lose();
    fate.join(a.owned.hold);
    fate.join(b.owned.hold);
    fate.part();
    fate.join(c.owned.hold);
    b.lose();
    c.lose();
    expect([told, counts([a, b, c])]).toEqual([['/a was lost'], [0, 0, 0]]);
  });
});

describe('a transaction that has ended', () => {
  it('leaves no listener on a lock that others share', async () => {
    const [a, b] = locks();
    const ofKey = new Map([a, b].map((lock) => [lock.key, lock]));
    const deadline = Deadline.after(new ManualClock(), 1_000);
    const tx = new GrowingTransaction([], deadline, (key) => Promise.resolve(ofKey.get(key)!.owned), Math.random);
    await tx.lock('/a');
    await tx.lock('/b');
    expect(counts([a, b])).toEqual([1, 1]);
    tx.end();
    expect(counts([a, b])).toEqual([0, 0]);
    b.lose();
    expect(tx.signal.aborted).toBe(false);
  });

  it.each([
    ['its end', false],
    ['the loss of another of its locks', true],
  ])('keeps no lock that is granted in the very turn of %s', async (_what, isLost) => {
    const [a, b] = locks();
    let grant: (owned: AcquiredLock) => void = () => undefined;
    const granted = new Promise<AcquiredLock>((resolve) => (grant = resolve));
    const kept: AcquiredLock[] = [];
    const deadline = Deadline.after(new ManualClock(), 1_000);
    const take = (key: string): Promise<AcquiredLock> => (key === '/a' ? Promise.resolve(a.owned) : granted);
    const tx = new GrowingTransaction(kept, deadline, take, Math.random);
    await tx.lock('/a');
    const late = tx.lock('/b').catch(({ details }: LockError) => details);
    await Promise.resolve();
    grant(b.owned);
    if (isLost) a.lose();
    else tx.end();
    expect(await late).toBe(isLost ? '/a was lost' : 'The transaction has ended, and cannot acquire the lock /b');
    expect([kept, b.releases]).toEqual([[a.owned], 1]);
  });
});
