import { AsyncLocalStorage } from 'node:async_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { Logger } from '@nestjs/common';
import { detailsOf } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import { BusyInstead, type LockedPlan, NotAskedForError, runLocked } from './locked-call.js';

/** Runs a step of the iteration in the context of the lock; a generator by itself runs in that of the caller of `next()`. */
type Enter = <T>(step: () => T) => T;

interface Inside {
  readonly enter: Enter;
  readonly args: unknown[];
}

/** The lock around one iteration: it is held until `end`, unless it is lost before. */
class IterationLock {
  /** Aborted when the consumer leaves, which ends the wait for the lock and not the hold. */
  readonly leaving = new AbortController();
  #end!: () => void;
  #fail!: (error: unknown) => void;
  #onRefused: (error: unknown) => void = () => undefined;
  #handle: LockHandle | undefined;
  /** The step that runs now. */
  #step: Promise<unknown> | undefined;
  #isGoingOn = false;
  #running: Promise<void | BusyInstead> = Promise.resolve();

  acquire(plan: LockedPlan, instance: unknown, args: readonly unknown[]): Promise<Inside | BusyInstead> {
    const over = new Promise<void>((end, fail) => {
      this.#end = end;
      this.#fail = fail;
    });
    return new Promise((resolve, reject) => {
      this.#onRefused = reject;
      const body = (filled: unknown[], handle: LockHandle): Promise<void> => {
        this.#handle = handle;
        resolve({ enter: AsyncLocalStorage.snapshot(), args: filled });
        return over;
      };
      this.#running = runLocked(plan, instance, args, body, this.leaving.signal);
      this.#running.then(
        (result) => result instanceof BusyInstead && resolve(result),
        (error: unknown) => this.#onRefused(error),
      );
    });
  }

  /** Undefined before the lock is held, and where something else took the place of a busy call. */
  get key(): string | undefined {
    return this.#handle?.key;
  }

  get isLost(): boolean {
    return this.#handle?.isHeld() === false;
  }

  /** Settles as the step does, or rejects when the lock is lost before. */
  untilDoneOrLost<T>(step: () => PromiseLike<T> | undefined): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      // The lock may have been lost while nobody waited for a step.
      this.#handle?.assertHeld();
      this.#onRefused = reject;
      const running = Promise.resolve(step());
      this.#step = running;
      running.finally(() => (this.#step = undefined)).then(resolve, reject);
    });
  }

  /** Ends the hold with an error. */
  fail(error: unknown): void {
    this.#fail(error);
  }

  /**
   * The lock is lost: the iteration ends when the step that goes on does, and the method has closed. Where somebody has broken the
   * lock, its node keeps others out until then.
   * @param error what the step failed with where none goes on
   */
  endBehind(closing: Promise<void>, error?: unknown): void {
    this.#isGoingOn = true;
    const step = this.#step;
    const ended = closing.then(async () => {
      if (step === undefined && error !== undefined) throw error as Error;
      await step;
    });
    ended.then(() => this.#end(), this.#fail);
  }

  /** Gives the lock back. Rejects when the lock was lost before, or with the error of `fail`. */
  async end(): Promise<void> {
    if (!this.#isGoingOn) this.#end();
    await this.#running;
  }
}

type Steps = AsyncGenerator<unknown, unknown, unknown>;
type Step = Promise<IteratorResult<unknown, unknown>>;

/**
 * The iterator that the caller of a decorated generator is given. A generator of the language could keep a lock for ever in two
 * ways: when it is told to return, it first finishes the step that waits for the lock; and it stays as it is when nobody
 * asks for a step again.
 */
class LockedIterator implements Steps {
  readonly [Symbol.toStringTag] = 'AsyncGenerator';
  readonly #plan: LockedPlan;
  readonly #steps: Steps;
  readonly #lock: IterationLock;
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The error for a consumer that asks for a step too late, which it gets once. */
  #forgotten: Promise<unknown> | undefined;

  constructor(plan: LockedPlan, steps: Steps, lock: IterationLock) {
    this.#plan = plan;
    this.#steps = steps;
    this.#lock = lock;
  }

  next(...sent: [] | [unknown]): Step {
    return this.#run(() => this.#steps.next(...sent));
  }

  return(value: unknown): Step {
    this.#lock.leaving.abort();
    this.#forgotten = undefined;
    return this.#run(() => this.#steps.return(value));
  }

  throw(error: unknown): Step {
    this.#lock.leaving.abort();
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
      if (!isOver && this.#underWay === 0 && this.#lock.key !== undefined) this.#expectNext(this.#lock.key);
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

/** The lock is acquired at the first `next()` and held until the iteration ends; `for await` ends it however it is left. */
export function wrapAsyncIterable(plan: LockedPlan): (...args: unknown[]) => AsyncGenerator<unknown> {
  const iterate = iteration(plan);
  return function (this: unknown, ...args) {
    const lock = new IterationLock();
    return new LockedIterator(plan, iterate.call(this, lock, args), lock);
  };
}

/** The steps of one iteration, once its lock is there. */
function iteration(
  plan: LockedPlan,
): (this: unknown, lock: IterationLock, args: unknown[]) => AsyncGenerator<unknown, unknown, unknown> {
  return async function* (lock, args) {
    const leaving = lock.leaving.signal;
    const inside = await lock.acquire(plan, this, args).catch((error: unknown) => {
      if (leaving.aborted) return undefined;
      throw error;
    });
    // The consumer left while the call waited: no step of the method runs, though the lock may have come in that very moment.
    if (inside === undefined) return undefined;
    if (leaving.aborted) return void (await lock.end());
    if (inside instanceof BusyInstead) {
      if (inside.result !== undefined) yield* inside.result as AsyncIterable<unknown>;
      return undefined;
    }
    const { enter } = inside;
    let iterator: AsyncIterator<unknown> | undefined;
    const close = (): Promise<unknown> | undefined => enter(() => iterator?.return?.());
    let isOver = false;
    try {
      const iterable = enter(() => plan.original.apply(this, inside.args)) as AsyncIterable<unknown>;
      const source = (iterator = iterable[Symbol.asyncIterator]());
      let resume: () => PromiseLike<IteratorResult<unknown, unknown>> = () => source.next();
      for (;;) {
        const step = await lock.untilDoneOrLost(() => enter(resume));
        isOver = step?.done !== false;
        if (isOver) return step?.value;
        try {
          const sent: unknown = yield step?.value;
          resume = () => source.next(sent);
        } catch (error) {
          // An iterator without `throw` answers with the error itself.
          resume = async () => {
            if (source.throw === undefined) throw error;
            return source.throw(error);
          };
        }
      }
    } catch (error) {
      isOver = true;
      // The caller is told of the loss, and does not wait for the method, which may be stuck.
      if (lock.isLost) lock.endBehind(quietly(close, plan.by), error);
      else lock.fail(error);
      throw error;
    } finally {
      // The consumer left in the middle. What the method does at its end still belongs under the lock, if it is held.
      try {
        if (!isOver && lock.isLost) lock.endBehind(quietly(close, plan.by));
        else if (!isOver) await lock.untilDoneOrLost(close);
      } finally {
        await lock.end();
      }
    }
  };
}

/** Closes the method's iterator after a loss; a failure goes to the log. */
async function quietly(close: () => Promise<unknown> | undefined, by: string): Promise<void> {
  try {
    await close();
  } catch (error) {
    new Logger('Locked').warn(`${by} failed to close after its lock was lost: ${detailsOf(error)}`);
  }
}
