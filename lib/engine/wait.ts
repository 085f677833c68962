import type { LockError } from '../lock/errors.js';

/** Whether a call waits until its turn comes, or fails as soon as it would have to wait. */
export type Patience = 'waits' | 'tries';

/** A wait that something else may end. Each await in it passes through `guard`, so it ends in time. */
export class Wait {
  #error: LockError | undefined;
  #isOver = false;
  /** An error that came after `succeed`, and ends the wait if it goes on. */
  #tooLate: LockError | undefined;
  #reject: ((error: LockError) => void) | undefined;

  /** The error that has ended the wait. */
  get error(): LockError | undefined {
    return this.#error;
  }

  /** Whether the wait has succeeded, or an error has ended it. */
  get isOver(): boolean {
    return this.#isOver || this.#error !== undefined;
  }

  /** Ends the wait. Only the first error counts, and none does after `succeed`. */
  end(error: LockError): void {
    if (this.#error !== undefined) return;
    if (this.#isOver) {
      this.#tooLate ??= error;
      return;
    }
    this.#error = error;
    this.#reject?.(error);
  }

  /** The wait has what it was for, and nothing ends it any more. */
  succeed(): void {
    this.#isOver = true;
  }

  /** The wait has lost again what it was for, and goes on. An error that came meanwhile ends it now. */
  goOn(): void {
    this.#isOver = false;
    if (this.#tooLate !== undefined) this.end(this.#tooLate);
  }

  /** Settles as the promise does, or rejects with the error that ends the wait. One at a time. */
  guard<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#error !== undefined) {
        // Nobody awaits the promise any more, and its rejection must not count as unhandled.
        promise.catch(() => undefined);
        reject(this.#error);
        return;
      }
      this.#reject = reject;
      promise.then(resolve, reject);
    });
  }
}

/** An event that happens once, perhaps before it is waited for. It has one waiter. */
export class Latch {
  #isOpen = false;
  #resolve: (() => void) | undefined;

  open(): void {
    this.#isOpen = true;
    this.#resolve?.();
  }

  opened(): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }
}
