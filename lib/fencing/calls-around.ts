import { AsyncLocalStorage } from 'node:async_hooks';

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
