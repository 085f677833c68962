interface Waiters {
  readonly callbacks: Set<() => void>;
  readonly tellAll: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiters>();

/**
 * Calls back when the signal aborts. One listener for all who wait for the same signal: an application's own for its
 * shutdown is given to every call, and Node warns of a leak from the eleventh listener on.
 * @returns how to stop listening; the last one takes the listener off the signal
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, tellAll } = waiting.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size > 0) return;
    signal.removeEventListener('abort', tellAll);
    waiting.delete(signal);
  };
}

function listen(signal: AbortSignal): Waiters {
  const callbacks = new Set<() => void>();
  const tellAll = (): void => {
    for (const callback of [...callbacks]) callback();
  };
  signal.addEventListener('abort', tellAll, { once: true });
  const waiters = { callbacks, tellAll };
  waiting.set(signal, waiters);
  return waiters;
}
