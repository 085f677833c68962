import type { LockHandle } from '../../../lib/lock/handle.js';

const SOON_MS = 10;
/** A lease that ends when a test says so: a short one may end before its lock is handed over, on a busy machine. */
export const LONG_LEASE = { leaseMs: 60_000 };

export async function untilAborted({ signal }: LockHandle): Promise<void> {
  // The loss may have come before this is called.
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
}

/** Has the lease of a lock end in some milliseconds. */
export function loseSoon(lock: LockHandle | undefined): void {
  if (lock === undefined) throw new Error('There is no lock to be lost.');
  lock.extend(SOON_MS);
}

export async function untilLost(lock: LockHandle): Promise<void> {
  loseSoon(lock);
  await untilAborted(lock);
}
