import { Observable, type Observer, type Subscription } from 'rxjs';

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
