import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import { detailsOf } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import { BusyInstead, type LockedPlan, runLocked } from './locked-call.js';
import { IterationStage, LockedIterator } from './locked-iterator.js';

/** Runs a step of the iteration in the context of the lock; a generator by itself runs in that of the caller of `next()`. */
type Enter = <T>(step: () => T) => T;

interface Inside {
  readonly enter: Enter;
  readonly args: unknown[];
  readonly key: string;
}

/** The lock around one iteration: it is held until `end`, unless it is lost before. */
class IterationLock {
  #end!: () => void;
  #fail!: (error: unknown) => void;
  #onRefused: (error: unknown) => void = () => undefined;
  #handle: LockHandle | undefined;
  /** The step that runs now. */
  #step: Promise<unknown> | undefined;
  #isGoingOn = false;
  #running: Promise<void | BusyInstead> = Promise.resolve();

  /** @param leaving ends the wait, not the hold */
  acquire(
    plan: LockedPlan,
    instance: unknown,
    args: readonly unknown[],
    leaving: AbortSignal,
  ): Promise<Inside | BusyInstead> {
    const over = new Promise<void>((end, fail) => {
      this.#end = end;
      this.#fail = fail;
    });
    return new Promise((resolve, reject) => {
      this.#onRefused = reject;
      const body = (filled: unknown[], handle: LockHandle): Promise<void> => {
        this.#handle = handle;
        resolve({ enter: AsyncLocalStorage.snapshot(), args: filled, key: handle.key });
        return over;
      };
      this.#running = runLocked(plan, instance, args, body, leaving);
      this.#running.then(
        (result) => result instanceof BusyInstead && resolve(result),
        (error: unknown) => this.#onRefused(error),
      );
    });
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

  /** Ends the hold with an error. If a step goes on behind the loss of the lock, the iteration ends when the step does. */
  fail(error: unknown): void {
    this.#isGoingOn = this.#step !== undefined;
    if (this.#step === undefined) this.#fail(error);
    else this.#step.then(() => this.#end(), this.#fail);
  }

  /** Gives the lock back. Rejects when the lock was lost before, or with the error of `fail`. */
  async end(): Promise<void> {
    if (!this.#isGoingOn) this.#end();
    await this.#running;
  }
}

/** The lock is acquired at the first `next()` and held until the iteration ends; `for await` ends it however it is left. */
export function wrapAsyncIterable(plan: LockedPlan): (...args: unknown[]) => AsyncGenerator<unknown> {
  const iterate = iteration(plan);
  return function (this: unknown, ...args) {
    const stage = new IterationStage();
    return new LockedIterator(plan, iterate.call(this, stage, args), stage);
  };
}

/** The steps of one iteration, once its lock is there. */
function iteration(
  plan: LockedPlan,
): (this: unknown, stage: IterationStage, args: unknown[]) => AsyncGenerator<unknown, unknown, unknown> {
  return async function* (stage, args) {
    const leaving = stage.leaving.signal;
    const lock = new IterationLock();
    const inside = await lock.acquire(plan, this, args, leaving).catch((error: unknown) => {
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
    const { enter, key } = inside;
    stage.key = key;
    let iterator: AsyncIterator<unknown> | undefined;
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
          resume = () => source.throw?.(error) ?? rejected(error);
        }
      }
    } catch (error) {
      isOver = !lock.isLost;
      lock.fail(error);
      throw error;
    } finally {
      // The consumer left in the middle. What the method does at its end still belongs under the lock, if it is held.
      const close = (): Promise<unknown> | undefined => enter(() => iterator?.return?.());
      try {
        // The caller has been told of the loss, and does not wait for the method, which may be stuck.
        if (!isOver && lock.isLost) void quietly(close, plan.by);
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

/** The answer of an iterator without `throw` to an error that is thrown into it. */
async function rejected(error: unknown): Promise<never> {
  throw error;
}
