/** Runs operations one after the other, in the order in which they were asked for. A failed one does not stop the next. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Whether no operation runs or waits. */
  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  async run<T>(operation: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    const done = this.#last.then(operation);
    // The next operation waits for the end of this one, however it ends: the failure is this caller's alone.
    this.#last = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      this.#waiting -= 1;
    }
  }
}

/** One turn for each name. A name on which nothing runs or waits is forgotten. */
export class InTurnByName {
  readonly #turns = new Map<string, InTurn>();

  /** How many names have something that runs or waits. */
  get size(): number {
    return this.#turns.size;
  }

  async run<T>(name: string, operation: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(name) ?? new InTurn();
    this.#turns.set(name, turn);
    try {
      return await turn.run(operation);
    } finally {
      if (turn.isIdle) this.#turns.delete(name);
    }
  }
}
