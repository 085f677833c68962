import type { LockService, LockSnapshot } from '../../../lib/index.js';
import { eventually } from '../../support/process/eventually.js';

/** Waits until somebody waits for the lock. */
export function untilQueued(locks: LockService, key: string, count = 1): Promise<LockSnapshot> {
  return eventually(`${count} wait for ${key}`, async () => {
    const snapshot = await locks.inspect(key);
    return snapshot.queueLength === count ? snapshot : undefined;
  });
}

/** Waits until nobody holds the lock. */
export function untilFree(locks: LockService, key: string): Promise<LockSnapshot> {
  return eventually(`${key} is free`, async () => {
    const snapshot = await locks.inspect(key);
    return snapshot.state === 'FREE' ? snapshot : undefined;
  });
}
