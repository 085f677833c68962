import { AsyncLocalStorage } from 'node:async_hooks';
import { from, isObservable, Observable, type ObservableInput, type Observer, of, type Subscription } from 'rxjs';
import { BusyInstead, type LockedPlan, runLocked, settleAs } from './locked-call.js';

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
export function subscribeInside(
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
