import type { LockError } from '../lock/errors.js';

/** One that waits, and that something else may end. Each of its awaits passes through `guard`, so it ends in time. */
export class Wait {
  #error: LockError | undefined;
  #isOver = false;
  #reject: ((error: LockError) => void) | undefined;

  /** What has ended it. */
  get error(): LockError | undefined {
    return this.#error;
  }

  /** The first error counts, and none does once it has got what it waited for. */
  end(error: LockError): void {
    if (this.#error !== undefined || this.#isOver) return;
    this.#error = error;
    this.#reject?.(error);
  }

  /** It has got what it waited for: nothing ends it any more. */
  succeed(): void {
    this.#isOver = true;
  }

  /** Settles as the promise does, or rejects with the error that ends the wait. One at a time. */
  guard<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#error !== undefined) {
        // What the promise comes to is nobody's business any more, and must not count as unhandled.
        promise.catch(() => undefined);
        reject(this.#error);
        return;
      }
      this.#reject = reject;
      promise.then(resolve, reject);
    });
  }
}

/** Something that happens once, perhaps before anybody waits for it. One waiter. */
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
