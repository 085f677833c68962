import { AsyncLocalStorage } from 'node:async_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { from, isObservable, Observable, type ObservableInput, type Observer, of, type Subscription } from 'rxjs';
import { LockConfigurationError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import { refuse } from '../../lock/option-rules.js';
import { BusyInstead, type LockedPlan, NotSubscribedError, runLocked, settleAs } from './locked-call.js';

/** The lock is held until the promise settles. If it brings an Observable, the lock is held until that has ended. */
export function wrapPromise(plan: LockedPlan): (...args: unknown[]) => Promise<unknown> {
  return function (this: unknown, ...args) {
    return new Promise((resolve, reject) => {
      const running: Promise<unknown> = runLocked(plan, this, args, async (filled, lock) => {
        const result = await plan.original.apply(this, filled);
        if (isObservable(result))
          return untilStreamEnds(plan, lock, result, { givenBack: () => running, handOver: resolve });
        return refuseIterator(plan, result);
      });
      running.then((result) => resolve(result instanceof BusyInstead ? result.result : result), reject);
    });
  };
}

/** The caller of a method that returned a stream. */
interface StreamsCaller {
  /** Settles, as the stream did, when the lock went back: a consumer that is told of the end may end the process. */
  readonly givenBack: () => Promise<unknown>;
  readonly handOver: (stream: Observable<unknown>) => void;
}

/**
 * Hands a stream to the caller and keeps the lock until it has ended. If nobody ever subscribes (the client of an SSE handler has
 * left meanwhile), the lock goes back after a while.
 */
function untilStreamEnds(
  { by, options: { subscribeWithinMs } }: LockedPlan,
  lock: LockHandle,
  source: Observable<unknown>,
  { givenBack, handOver }: StreamsCaller,
): Promise<void> {
  const inside = AsyncLocalStorage.snapshot();
  return new Promise((end, fail) => {
    let state: 'waiting' | 'subscribed' | 'late' = 'waiting';
    const timer = setTimeout(() => {
      state = 'late';
      settleAs(lock, end, fail);
    }, subscribeWithinMs).unref();
    const stream = new Observable<unknown>((subscriber) => {
      if (state === 'late') {
        return subscriber.error(new NotSubscribedError(by, subscribeWithinMs, lock.key));
      }
      if (state === 'subscribed') {
        const text = `What ${by} returned can be subscribed to once: its lock is held for one run`;
        return subscriber.error(new LockConfigurationError(text, lock.key));
      }
      state = 'subscribed';
      clearTimeout(timer);
      const outside = AsyncLocalStorage.snapshot();
      subscriber.add(() => settleAs(lock, end, fail));
      const tellLoss = (): void => outside(() => subscriber.error(lock.signal.reason));
      lock.signal.addEventListener('abort', tellLoss, { once: true });
      subscriber.add(() => lock.signal.removeEventListener('abort', tellLoss));
      if (lock.signal.aborted) return tellLoss();
      givenBack().then(
        () => subscriber.complete(),
        (error: unknown) => subscriber.error(error),
      );
      const next = (value: unknown): void => outside(() => subscriber.next(value));
      subscribeInside(source, inside, subscriber, { next, error: fail, complete: end });
    });
    handOver(stream);
  });
}

function refuseIterator({ by }: LockedPlan, result: unknown): unknown {
  // An iterator would run after the lock has gone back. So would a stream of bytes, but downloads are made of those.
  if (!isLazy(result)) return result;
  return refuse(
    `${by} returned an iterator, which would run without the lock. Make the method itself an async generator ` +
      "(async *name), say returns: 'async-iterable', or return what the iteration brings",
  );
}

function isLazy(result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return false;
  if (Object.prototype.toString.call(result) === '[object Generator]') return true;
  // An object that can only be iterated is no iterator: a page of results may offer that beside its data.
  return Symbol.asyncIterator in result && 'next' in result && typeof result.next === 'function';
}

/** Nothing happens before somebody subscribes; the lock is held until the stream ends or is unsubscribed from. */
export function wrapObservable(plan: LockedPlan): (...args: unknown[]) => Observable<unknown> {
  return function (this: unknown, ...args) {
    return new Observable((subscriber) => {
      const waiting = new AbortController();
      const outside = AsyncLocalStorage.snapshot();
      subscriber.add(() => waiting.abort());
      const running = runLocked(
        plan,
        this,
        args,
        (filled, lock) =>
          new Promise<void>((end, fail) => {
            if (subscriber.closed) return end();
            // A consumer that leaves does not wait for the end. A stream that the loss has ended did not go on behind it.
            subscriber.add(() => settleAs(lock, end, fail));
            const source = from(plan.original.apply(this, filled) as ObservableInput<unknown>);
            const next = (value: unknown): void => outside(() => subscriber.next(value));
            subscribeInside(source, AsyncLocalStorage.snapshot(), subscriber, { next, error: fail, complete: end });
          }),
        waiting.signal,
      );
      running.then(
        (result) => {
          if (!(result instanceof BusyInstead) || result.result === undefined) return subscriber.complete();
          const instead = result.result;
          (isObservable(instead) ? instead : of(instead)).subscribe(subscriber);
        },
        (error: unknown) => subscriber.error(error),
      );
    });
  };
}

/** Runs work in the async context in which this function was made. */
type Enter = <T>(work: () => T) => T;

/**
 * Runs a source in the context of the lock, from its beginning to the work that it does when it is left, for as long as
 * `subscription` is open. The observer must see to the context of its consumers: a consumer that ran in the context of the
 * lock would share the lock.
 */
function subscribeInside(
  source: Observable<unknown>,
  inside: Enter,
  subscription: Subscription,
  observer: Observer<unknown>,
): void {
  // The teardown is added before the source begins: it may give all its values while it is being subscribed to.
  const relayed = new Observable<unknown>((inner) => {
    subscription.add(() => inside(() => inner.unsubscribe()));
    return source.subscribe(inner);
  });
  inside(() => relayed.subscribe(observer));
}
