/** Runs one thing after the other, in the order in which they were asked for. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  async run<T>(operation: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    const before = this.#last;
    const done = this.#behind(before, operation);
    this.#last = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #behind<T>(before: Promise<unknown>, operation: () => Promise<T>): Promise<T> {
    await before;
    return operation();
  }
}
