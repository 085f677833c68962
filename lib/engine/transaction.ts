import { DeadlockError, LockAbortedError, type LockLostError, LockTimeoutError } from '../lock/errors.js';
import type { Deadline } from '../lock/deadline.js';
import type { LockHandle } from '../lock/handle.js';
import { covers, type LockMode } from '../lock/mode.js';
import type { Hold } from './hold.js';
import type { LockTransaction } from './lock-service.js';
import { SharedFate } from './multi-lock.js';
import type { OwnedLock } from './owner-context.js';

/** A wait inside a transaction that already holds something is cut short, as it may be a wait in a circle. */
const SHORTEST_WAIT_PART = 0.05;
const LONGEST_WAIT_PART = 0.2;

/** Takes one lock for the transaction. The reason with which `end` aborts is the error that ends the wait. */
export type TakeLock = (
  key: string,
  mode: LockMode,
  waitMs: number,
  end: AbortSignal,
) => Promise<{ hold: Hold; handle: LockHandle }>;

/**
 * The growing phase of strict two-phase locking. Locks are kept in `locks`, which is also what code inside re-enters, and
 * given back by whoever made this.
 */
export class GrowingTransaction implements LockTransaction {
  readonly #locks: OwnedLock[];
  readonly #deadline: Deadline;
  readonly #take: TakeLock;
  readonly #random: () => number;
  readonly #controller = new AbortController();
  readonly #fate = new SharedFate((error) => this.#lose(error));
  #isOver = false;
  #last: Promise<unknown> = Promise.resolve();
  /** Ends the wait for the lock that is being taken. */
  #endWait: (loss?: LockLostError) => void = () => undefined;

  constructor(locks: OwnedLock[], deadline: Deadline, take: TakeLock, random: () => number) {
    this.#locks = locks;
    this.#deadline = deadline;
    this.#take = take;
    this.#random = random;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** One after the other, also when asked for together: what is held already decides how long the next may wait. */
  lock(key: string, mode: LockMode = 'exclusive'): Promise<LockHandle> {
    const locked = this.#last.then(() => this.#lock(key, mode));
    this.#last = locked.catch(() => undefined);
    return locked;
  }

  async #lock(key: string, mode: LockMode): Promise<LockHandle> {
    this.signal.throwIfAborted();
    if (this.#isOver) throw endedError(key);
    const known = this.#locks.find(({ handle }) => handle.key === key && covers(handle.mode, mode));
    if (known !== undefined) return known.handle;
    const first = this.#locks.length === 0;
    const remainingMs = this.#deadline.remainingMs();
    const waitMs = first ? remainingMs : Math.min(remainingMs, this.#cautiousWaitMs());
    const controller = new AbortController();
    this.#endWait = (loss) => controller.abort(loss ?? endedError(key));
    try {
      const taken = await this.#take(key, mode, waitMs, controller.signal);
      // Too late to end the wait, which was over just before.
      if (this.#isOver) {
        void taken.handle.release();
        throw endedError(key);
      }
      this.#locks.push(taken);
      this.#fate.join(taken.hold);
      return taken.handle;
    } catch (error) {
      if (first || this.#isOver || !(error instanceof LockTimeoutError) || this.#deadline.hasPassed()) throw error;
      const held = this.#locks.map(({ handle }) => handle.key).join(', ');
      throw new DeadlockError(`Taken for a deadlock: waited for ${key} while holding ${held}`, key, { cause: error });
    }
  }

  /** No more locks: the ones there are go now, and nobody is left to wait for another. */
  end(): void {
    this.#isOver = true;
    this.#fate.part();
    this.#endWait();
  }

  #lose(error: LockLostError): void {
    this.#controller.abort(error);
    this.#endWait(error);
  }

  /** Different each time, so that of two that wait for each other one gives way first. */
  #cautiousWaitMs(): number {
    const totalMs = this.#deadline.at - this.#deadline.startedAt;
    return totalMs * (SHORTEST_WAIT_PART + this.#random() * (LONGEST_WAIT_PART - SHORTEST_WAIT_PART));
  }
}

function endedError(key: string): LockAbortedError {
  return new LockAbortedError(`The transaction has ended; it cannot take ${key} any more`, key);
}
