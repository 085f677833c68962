import type { Deadline } from '../../lock/deadline.js';
import { DeadlockError, LockAbortedError, type LockError, type LockLostError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import { covers, type LockMode } from '../../lock/mode.js';
import type { TakenLock } from '../acquire/lock-taker.js';
import { onAbort } from '../bounds/call-scope.js';
import type { Footing } from '../hold/held-lock.js';
import type { Hold } from '../hold/hold.js';
import type { LockTransaction } from '../lock-service.js';
import { SharedFate } from './acquire-all.js';

/** A wait behind others inside a transaction that already holds something is cut short, as it may be a wait in a circle. */
const SHORTEST_WAIT_PART = 0.05;
const LONGEST_WAIT_PART = 0.2;

/** For how long one may wait behind others before it is taken for a wait in a circle, and what it is told then. */
export interface Suspicion {
  readonly afterMs: number;
  readonly error: () => LockError;
}

/** Takes one lock for the transaction. The reason with which `end` aborts is the error that ends the wait. */
export type TakeLock = (
  key: string,
  mode: LockMode,
  end: AbortSignal,
  suspicion: Suspicion | undefined,
) => Promise<{ hold: Hold; handle: LockHandle }>;

/**
 * The growing phase of strict two-phase locking. Locks are kept in `locks`, which is also what code inside re-enters, and
 * given back by whoever made this.
 */
export class GrowingTransaction implements LockTransaction, Footing {
  readonly #locks: TakenLock[];
  readonly #deadline: Deadline;
  readonly #take: TakeLock;
  readonly #random: () => number;
  readonly #controller = new AbortController();
  readonly #fate = new SharedFate((error) => this.#lose(error));
  #isOver = false;
  #lostHold: Hold | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** Ends the wait for the lock that is being taken. */
  #endWait: (loss?: LockLostError) => void = () => undefined;

  constructor(locks: TakenLock[], deadline: Deadline, take: TakeLock, random: () => number) {
    this.#locks = locks;
    this.#deadline = deadline;
    this.#take = take;
    this.#random = random;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The one whose loss was the end of the others. */
  get lostHold(): Hold | undefined {
    return this.#lostHold;
  }

  onLost(listener: (error: LockLostError) => void): () => void {
    return onAbort(this.signal, () => listener(this.signal.reason as LockLostError));
  }

  /** Asks the clock for each: whoever finds one lost is told as all others are. */
  lossError(): LockLostError | undefined {
    for (const { hold } of this.#locks) if (!hold.isReleased) hold.lossError();
    return this.signal.aborted ? (this.signal.reason as LockLostError) : undefined;
  }

  /** One after the other, also when asked for together: what is held already decides how long the next may wait. */
  lock(key: string, mode: LockMode = 'exclusive'): Promise<LockHandle> {
    const locked = this.#last.then(() => this.#lock(key, mode));
    this.#last = locked.catch(() => undefined);
    return locked.then((handle) => {
      // Somebody else may have blocked the event loop since it was granted.
      const loss = this.lossError();
      if (loss !== undefined) throw loss;
      return handle;
    });
  }

  async #lock(key: string, mode: LockMode): Promise<LockHandle> {
    const loss = this.lossError();
    if (loss !== undefined) throw loss;
    if (this.#isOver) throw endedError(key);
    const known = this.#locks.find(({ handle }) => handle.key === key && covers(handle.mode, mode));
    if (known !== undefined) {
      // The work may have given it back before the end.
      known.handle.assertHeld();
      return known.handle;
    }
    const controller = new AbortController();
    this.#endWait = (loss) => controller.abort(loss ?? endedError(key));
    const taken = await this.#take(key, mode, controller.signal, this.#suspicion(key));
    // Too late to end the wait, which was over just before.
    if (this.#isOver || this.signal.aborted) {
      void taken.handle.release();
      this.signal.throwIfAborted();
      throw endedError(key);
    }
    this.#locks.push(taken);
    this.#fate.join(taken.hold);
    return taken.handle;
  }

  /** No more locks: the ones there are go now, and nobody is left to wait for another. */
  end(): void {
    this.#isOver = true;
    this.#fate.part();
    this.#endWait();
  }

  /** Losing one loses all, so that nobody works on a part; those that others share are given back. */
  #lose(error: LockLostError): void {
    if (this.signal.aborted) return;
    this.#lostHold = this.#locks.find(({ hold }) => hold.isLost)?.hold;
    this.#controller.abort(error);
    this.#endWait(error);
    for (const { hold } of this.#locks) hold.loseWithSiblings();
  }

  /** The first lock waits in no circle. Different each time, so that of two that wait for each other one gives way first. */
  #suspicion(key: string): Suspicion | undefined {
    if (this.#locks.length === 0) return undefined;
    const totalMs = this.#deadline.at - this.#deadline.startedAt;
    const afterMs = totalMs * (SHORTEST_WAIT_PART + this.#random() * (LONGEST_WAIT_PART - SHORTEST_WAIT_PART));
    const held = this.#locks.map(({ handle }) => handle.key).join(', ');
    const text = `Treated as a deadlock: waited for ${key} for ${Math.round(afterMs)} ms while holding ${held}`;
    return { afterMs, error: () => new DeadlockError(text, key) };
  }
}

function endedError(key: string): LockAbortedError {
  return new LockAbortedError(`The transaction has ended, and cannot take the lock ${key}`, key);
}
