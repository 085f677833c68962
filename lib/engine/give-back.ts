import type { OwnedLock } from './owner-context.js';
import type { Uplink } from './uplink.js';

/**
 * Gives locks back that were taken together. Resolves when their nodes are gone, or when it makes no sense to wait for
 * that because the link is down: the janitor removes them when it is back.
 */
export function giveBack(locks: readonly OwnedLock[], uplink: Uplink): Promise<void> {
  const released = Promise.all(locks.map(({ handle }) => handle.release()));
  if (!uplink.isUp) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      stopListening();
      resolve();
    };
    const stopListening = uplink.onChange(end);
    void released.then(end);
  });
}
