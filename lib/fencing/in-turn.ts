import { AsyncLocalStorage } from 'node:async_hooks';

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

interface Call {
  readonly resource: string;
  isOver: boolean;
}

/** Knows which calls of one kind run around the code that asks: such a call may wait for itself if it is made inside of them. */
export class CallsAround {
  readonly #around = new AsyncLocalStorage<readonly Call[]>();

  /** The resources of the calls around the caller, the outermost first. */
  get resources(): string[] {
    return this.#open().map(({ resource }) => resource);
  }

  /** Runs `work` as a call for this resource. */
  async run<T>(resource: string, work: () => T | PromiseLike<T>): Promise<T> {
    const call: Call = { resource, isOver: false };
    try {
      return await this.#around.run([...this.#open(), call], work);
    } finally {
      // Work that was left running still finds the call around it, and is in none any more.
      call.isOver = true;
    }
  }

  #open(): readonly Call[] {
    return (this.#around.getStore() ?? []).filter(({ isOver }) => !isOver);
  }
}
