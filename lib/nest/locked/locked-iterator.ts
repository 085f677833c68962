import { clearTimeout, setTimeout } from 'node:timers';
import { type LockedPlan, NotAskedForError } from './locked-call.js';

type Steps = AsyncGenerator<unknown, unknown, unknown>;
type Step = Promise<IteratorResult<unknown, unknown>>;

/** What an iteration and its iterator tell each other. */
export class IterationStage {
  /** Aborted when the consumer leaves, which ends the wait for the lock. */
  readonly leaving = new AbortController();
  /** The key of the lock, once it is held; undefined also where something else took the place of a busy call. */
  key: string | undefined;
}

/**
 * The iterator that the caller of a decorated generator is given. A generator of the language could keep a lock for ever in two
 * ways: when it is told to return, it first finishes the step that waits for the lock; and it stays as it is when nobody
 * asks for a step again.
 */
export class LockedIterator implements Steps {
  readonly [Symbol.toStringTag] = 'AsyncGenerator';
  readonly #plan: LockedPlan;
  readonly #steps: Steps;
  readonly #stage: IterationStage;
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The error for a consumer that asks for a step too late, which it gets once. */
  #forgotten: Promise<unknown> | undefined;

  constructor(plan: LockedPlan, steps: Steps, stage: IterationStage) {
    this.#plan = plan;
    this.#steps = steps;
    this.#stage = stage;
  }

  next(...sent: [] | [unknown]): Step {
    return this.#run(() => this.#steps.next(...sent));
  }

  return(value: unknown): Step {
    this.#stage.leaving.abort();
    this.#forgotten = undefined;
    return this.#run(() => this.#steps.return(value));
  }

  throw(error: unknown): Step {
    this.#stage.leaving.abort();
    return this.#run(() => this.#steps.throw(error));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined);
  }

  async #run(step: () => Step): Step {
    clearTimeout(this.#timer);
    const forgotten = this.#forgotten;
    this.#forgotten = undefined;
    if (forgotten !== undefined) throw await forgotten;
    this.#underWay += 1;
    let isOver = true;
    try {
      const result = await step();
      isOver = result.done === true;
      return result;
    } finally {
      this.#underWay -= 1;
      if (!isOver && this.#underWay === 0 && this.#stage.key !== undefined) this.#expectNext(this.#stage.key);
    }
  }

  #expectNext(key: string): void {
    const { by, options } = this.#plan;
    this.#timer = setTimeout(() => {
      this.#forgotten = this.#steps.return(undefined).then(
        () => new NotAskedForError(by, options.subscribeWithinMs, key),
        // The lock was lost meanwhile, or the method failed to close.
        (error: unknown) => error,
      );
    }, options.subscribeWithinMs).unref();
  }
}
