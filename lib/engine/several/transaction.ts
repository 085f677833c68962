import type { Deadline } from '../../lock/deadline.js';
import { DeadlockError, LockAbortedError, type LockError, type LockLostError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import { covers, type LockMode } from '../../lock/mode.js';
import type { AcquiredLock } from '../acquire/lock-calls.js';
import { onAbort } from '../bounds/call-scope.js';
import type { Footing } from '../hold/held-lock.js';
import type { Hold } from '../hold/hold.js';
import type { LockTransaction } from '../lock-service.js';
import { SharedFate } from './acquire-all.js';

/**
 * A transaction that holds locks already waits for another one for a part of its time only, between these two, as the wait
 * may be part of a circle.
 */
const SHORTEST_WAIT_PART = 0.05;
const LONGEST_WAIT_PART = 0.2;

/** How long a call may wait behind others before that counts as a deadlock, and the error that ends it then. */
export interface Suspicion {
  readonly afterMs: number;
  readonly error: () => LockError;
}

/** Acquires one lock for the transaction. The reason of `end` is the error that ends the wait. */
export type AcquireLock = (
  key: string,
  mode: LockMode,
  end: AbortSignal,
  suspicion: Suspicion | undefined,
) => Promise<{ hold: Hold; handle: LockHandle }>;

/**
 * The growing phase of strict two-phase locking: locks are added, and none is released before the end. They stand in
 * `locks`, a frame's list, so that code inside can re-enter them. Releasing them is up to whoever made the list.
 */
export class GrowingTransaction implements LockTransaction, Footing {
  readonly #locks: AcquiredLock[];
  readonly #deadline: Deadline;
  readonly #acquire: AcquireLock;
  readonly #random: () => number;
  readonly #controller = new AbortController();
  readonly #fate = new SharedFate((error) => this.#lose(error));
  #isOver = false;
  #lostHold: Hold | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** Ends the wait for the lock that is being acquired. */
  #endWait: (loss?: LockLostError) => void = () => undefined;

  constructor(locks: AcquiredLock[], deadline: Deadline, acquire: AcquireLock, random: () => number) {
    this.#locks = locks;
    this.#deadline = deadline;
    this.#acquire = acquire;
    this.#random = random;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The hold whose loss ended the others. */
  get lostHold(): Hold | undefined {
    return this.#lostHold;
  }

  onLost(listener: (error: LockLostError) => void): () => void {
    return onAbort(this.signal, () => listener(this.signal.reason as LockLostError));
  }

  lossError(): LockLostError | undefined {
    // Each hold checks the clock, and calls `#lose` if it finds itself lost.
    for (const { hold } of this.#locks) if (!hold.isReleased) hold.lossError();
    return this.signal.aborted ? (this.signal.reason as LockLostError) : undefined;
  }

  lock(key: string, mode: LockMode = 'exclusive'): Promise<LockHandle> {
    // Locks are acquired one after the other, even when they are asked for together: what is held by then decides how long
    // the next one may wait.
    const locked = this.#last.then(() => this.#lock(key, mode));
    this.#last = locked.catch(() => undefined);
    return locked.then((handle) => {
      // Another caller may have blocked the event loop since the hold began.
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
      // The work may have released it on its own.
      known.handle.assertHeld();
      return known.handle;
    }
    const controller = new AbortController();
    this.#endWait = (loss) => controller.abort(loss ?? endedError(key));
    const acquired = await this.#acquire(key, mode, controller.signal, this.#suspicion(key));
    // The end or the loss came after the hold began, too late to end the wait.
    if (this.#isOver || this.signal.aborted) {
      void acquired.handle.release();
      this.signal.throwIfAborted();
      throw endedError(key);
    }
    this.#locks.push(acquired);
    this.#fate.join(acquired.hold);
    return acquired.handle;
  }

  /** Ends the growing phase: no lock is added from now on, and a wait for one ends. */
  end(): void {
    this.#isOver = true;
    this.#fate.part();
    this.#endWait();
  }

  /** The loss of one lock ends all, so that nobody works with a part of them. */
  #lose(error: LockLostError): void {
    if (this.signal.aborted) return;
    this.#lostHold = this.#locks.find(({ hold }) => hold.isLost)?.hold;
    this.#controller.abort(error);
    this.#endWait(error);
    // Locks that other callers share stay. The transaction's own handles on them are released at its end.
    for (const { hold } of this.#locks) hold.loseWithSiblings();
  }

  #suspicion(key: string): Suspicion | undefined {
    // A transaction that holds nothing keeps nobody waiting, so it is part of no circle.
    if (this.#locks.length === 0) return undefined;
    // The time is random, so that of two transactions that wait for each other one gives way first.
    const totalMs = this.#deadline.at - this.#deadline.startedAt;
    const afterMs = totalMs * (SHORTEST_WAIT_PART + this.#random() * (LONGEST_WAIT_PART - SHORTEST_WAIT_PART));
    const held = this.#locks.map(({ handle }) => handle.key).join(', ');
    const text = `Treated as a deadlock: waited for ${key} for ${Math.round(afterMs)} ms while holding ${held}`;
    return { afterMs, error: () => new DeadlockError(text, key) };
  }
}

function endedError(key: string): LockAbortedError {
  return new LockAbortedError(`The transaction has ended, and cannot acquire the lock ${key}`, key);
}
