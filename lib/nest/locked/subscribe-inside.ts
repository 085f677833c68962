import { Observable, type Observer, type Subscription } from 'rxjs';

/** Runs what it is given in the async context in which it was made. */
type Enter = <T>(work: () => T) => T;

/**
 * Runs a source in the context of the lock, from its beginning to what it does when it is left, for as long as `subscription`
 * is open. The observer must see to the context of those it tells: a consumer that ran in that of the lock would share
 * the lock, as would everybody else who consumes the stream.
 */
export function subscribeInside(
  source: Observable<unknown>,
  inside: Enter,
  subscription: Subscription,
  observer: Observer<unknown>,
): void {
  // Added before the source begins: it may give all it has while it is being subscribed to.
  const relayed = new Observable<unknown>((inner) => {
    subscription.add(() => inside(() => inner.unsubscribe()));
    return source.subscribe(inner);
  });
  inside(() => relayed.subscribe(observer));
}
