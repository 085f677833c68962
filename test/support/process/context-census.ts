import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Runs calls, each in an async context of its own (as a request of an application), and counts whose context something still keeps. */
export class ContextCensus {
  readonly #storage = new AsyncLocalStorage<object>();
  readonly #stores: WeakRef<object>[] = [];

  /** How many calls were run. */
  get size(): number {
    return this.#stores.length;
  }

  run<T>(work: () => T): T {
    const store = { request: this.#stores.length };
    this.#stores.push(new WeakRef(store));
    return this.#storage.run(store, work);
  }

  /** The context that the code asking is in. */
  get current(): object | undefined {
    return this.#storage.getStore();
  }

  async retained(): Promise<number> {
    let left = this.#stores.length;
    // What a collection finds dead may be the last to keep something else, and a weak reference keeps until its turn ends.
    for (let rounds = 0; rounds < 5 && left > 0; rounds += 1) {
      await turn();
      collectGarbage();
      left = this.#stores.filter((store) => store.deref() !== undefined).length;
    }
    return left;
  }
}
