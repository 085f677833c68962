import { performance } from 'node:perf_hooks';

interface Look<T> {
  readonly result: Promise<T>;
  /** undefined while it is under way. */
  doneAt: number | undefined;
}

/**
 * One look at ZooKeeper for all who ask at about the same time: who asks while it is under way, or soon afterwards, is shown the
 * same. A look that failed is not kept.
 */
export class SharedLook<T> {
  readonly #look: () => Promise<T>;
  readonly #validMs: number;
  #last: Look<T> | undefined;

  constructor(look: () => Promise<T>, validMs: number) {
    this.#look = look;
    this.#validMs = validMs;
  }

  get(): Promise<T> {
    const last = this.isOver ? undefined : this.#last;
    this.#last = last ?? this.#begin();
    return this.#last.result;
  }

  /** True if the next caller causes a new look. */
  get isOver(): boolean {
    if (this.#last === undefined) return true;
    const { doneAt } = this.#last;
    return doneAt !== undefined && performance.now() - doneAt >= this.#validMs;
  }

  /** Makes the next caller look again, because time has passed. */
  expire(): void {
    // A look that is under way is new enough to be shared.
    if (this.#last?.doneAt !== undefined) this.#last = undefined;
  }

  /** Makes the next caller look again, because something was changed. */
  forget(): void {
    // A look that is under way began before the change, and must not be shared.
    this.#last = undefined;
  }

  #begin(): Look<T> {
    const begun: Look<T> = { result: this.#look(), doneAt: undefined };
    begun.result.then(
      () => (begun.doneAt = performance.now()),
      () => {
        if (this.#last === begun) this.#last = undefined;
      },
    );
    return begun;
  }
}
