import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { TakenLock } from '../../../../lib/engine/acquire/lock-taker.js';
import type { Hold } from '../../../../lib/engine/hold/hold.js';
import { HeldLocks, SharedFate } from '../../../../lib/engine/several/multi-lock.js';
import { GrowingTransaction } from '../../../../lib/engine/several/transaction.js';
import { Deadline } from '../../../../lib/lock/deadline.js';
import { type LockError, LockLostError } from '../../../../lib/lock/errors.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { ManualClock } from '../../support/manual-clock.js';

/** A lock that somebody further out has, too: it goes on when those who share it are done. */
class SharedLock {
  readonly listeners = new Set<(error: LockLostError) => void>();
  readonly #controller = new AbortController();
  readonly owned: TakenLock;
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
  it('leave no listener on a lock that others share when they are given back', async () => {
    const all = locks();
    const held = new HeldLocks(all.map(({ owned }) => owned));
    expect(counts(all)).toEqual([1, 1, 1]);
    await held.release();
    expect(counts(all)).toEqual([0, 0, 0]);
    all[1].lose();
    expect(held.signal.aborted).toBe(false);
  });

  it('nor when one of them is lost, or was lost before they came together', () => {
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
    let grant: (owned: TakenLock) => void = () => undefined;
    const granted = new Promise<TakenLock>((resolve) => (grant = resolve));
    const kept: TakenLock[] = [];
    const deadline = Deadline.after(new ManualClock(), 1_000);
    const take = (key: string): Promise<TakenLock> => (key === '/a' ? Promise.resolve(a.owned) : granted);
    const tx = new GrowingTransaction(kept, deadline, take, Math.random);
    await tx.lock('/a');
    const late = tx.lock('/b').catch(({ details }: LockError) => details);
    await Promise.resolve();
    grant(b.owned);
    if (isLost) a.lose();
    else tx.end();
    expect(await late).toBe(isLost ? '/a was lost' : 'The transaction has ended, and cannot take the lock /b');
    expect([kept, b.releases]).toEqual([[a.owned], 1]);
  });
});
