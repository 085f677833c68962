import { from, isObservable, Observable, type ObservableInput, of } from 'rxjs';
import { BusyInstead, type LockedPlan, runLocked, settleAs } from './locked-call.js';

/** Nothing happens before somebody subscribes; the lock is held until the stream ends or is unsubscribed from. */
export function wrapObservable(plan: LockedPlan): (...args: unknown[]) => Observable<unknown> {
  return function (this: unknown, ...args) {
    return new Observable((subscriber) => {
      const waiting = new AbortController();
      subscriber.add(() => waiting.abort());
      const running = runLocked(
        plan,
        this,
        args,
        (filled, lock) =>
          new Promise<void>((end, fail) => {
            if (subscriber.closed) return end();
            // The one who leaves does not wait for the end. A stream that the loss has ended did not go on behind it.
            subscriber.add(() => settleAs(lock, end, fail));
            const source = from(plan.original.apply(this, filled) as ObservableInput<unknown>);
            // Added before the source begins: it may give all it has while it is being subscribed to.
            new Observable<unknown>((inner) => {
              subscriber.add(inner);
              return source.subscribe(inner);
            }).subscribe({ next: (value) => subscriber.next(value), error: fail, complete: () => end() });
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
