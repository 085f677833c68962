/** Runs the operations of a name in the order in which they were asked for. A failed one does not stop the next. */
export class InTurn {
  /** When the last operation of a name ends, for the names on which one runs or waits. */
  readonly #ends = new Map<string, Promise<unknown>>();

  /** Whether no operation of this name runs or waits. */
  isIdle(name: string): boolean {
    return !this.#ends.has(name);
  }

  async run<T>(name: string, operation: () => Promise<T>): Promise<T> {
    const done = (this.#ends.get(name) ?? Promise.resolve()).then(operation);
    // The next operation waits for the end of this one, however it ends: the failure is this caller's alone.
    const end = done.catch(() => undefined);
    this.#ends.set(name, end);
    try {
      return await done;
    } finally {
      if (this.#ends.get(name) === end) this.#ends.delete(name);
    }
  }
}
