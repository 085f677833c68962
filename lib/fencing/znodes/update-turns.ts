import { AsyncLocalStorage } from 'node:async_hooks';
import { LockConfigurationError } from '../../lock/errors.js';

/** An update around the code that runs now. */
interface Turn {
  readonly path: string;
  readonly outer: Turn | undefined;
  isOver: boolean;
}

/** Updates of one path go one after the other, so that they do not undo each other's reads. */
export class UpdateTurns {
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #current = new AsyncLocalStorage<Turn>();

  /** @throws LockConfigurationError inside an update of the same path, which it would wait for while that waits for it */
  async run<T>(path: string, work: () => Promise<T>): Promise<T> {
    const outer = inProgress(this.#current.getStore());
    for (let at = outer; at !== undefined; at = inProgress(at.outer)) {
      if (at.path !== path) continue;
      throw new LockConfigurationError(
        `update() of ${path} inside of an update() of ${path}: the outer one writes what its change returns. Make it one`,
      );
    }
    const turn: Turn = { path, outer, isOver: false };
    const run = (): Promise<T> => this.#current.run(turn, work);
    try {
      // Inside of another one it does not wait: two that go through their paths in opposite order would wait for each other.
      return await (outer === undefined ? this.#afterTheLast(path, run) : run());
    } finally {
      turn.isOver = true;
    }
  }

  async #afterTheLast<T>(path: string, run: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(path) ?? Promise.resolve()).then(run);
    const settled = turn.catch(() => undefined);
    this.#last.set(path, settled);
    try {
      return await turn;
    } finally {
      if (this.#last.get(path) === settled) this.#last.delete(path);
    }
  }
}

/** A promise that was left running is in no update any more once that is over. */
function inProgress(turn: Turn | undefined): Turn | undefined {
  let at = turn;
  while (at?.isOver === true) at = at.outer;
  return at;
}
