import type { LockError } from '../../lock/errors.js';
import type { Member } from '../upkeep/roster.js';

/**
 * What can end a wait from outside: the deadline, the caller's signal, the service closing. Every await of a request
 * passes through `guard`, so whatever it waits for, it ends in time.
 */
export class Interrupt implements Member {
  rosterIndex = -1;
  /** Whether somebody was seen in front: what it means that the time is up. */
  isBehindOthers = false;
  /** Since when it waits; a call for several keys waits for each with one of its own. */
  openedAt = -Infinity;
  /** When the time is up. */
  endsAt = Infinity;
  /** Who was seen to hold the lock that is waited for, as a sentence. */
  describeHolder: (() => string) | undefined;
  #error: LockError | undefined;
  #reject: ((error: LockError) => void) | undefined;
  readonly #cleanups: (() => void)[] = [];

  get error(): LockError | undefined {
    return this.#error;
  }

  /** The first one counts. */
  raise(error: LockError): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#reject?.(error);
  }

  /** Settles as the promise does, or rejects with the interruption. One at a time. */
  guard<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#error !== undefined) {
        // What the promise comes to is somebody else's business now; it must not count as unhandled.
        promise.catch(() => undefined);
        reject(this.#error);
        return;
      }
      this.#reject = reject;
      promise.then(resolve, reject);
    });
  }

  onDispose(cleanup: () => void): void {
    this.#cleanups.push(cleanup);
  }

  /** The wait is over: removes the timer and the listeners that were set for it. */
  dispose(): void {
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
  }
}
