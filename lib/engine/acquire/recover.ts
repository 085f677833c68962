import type { AcquireOptions } from '../../lock/acquire-options.js';
import { frameFor, type LockEvents, runInFrame } from '../bounds/owner-context.js';
import { releaseBehind, untilDoneOrLost } from '../hold/held-lock.js';
import type { AcquiredLock } from './lock-calls.js';

/** What the options of a call mean for the record of its key. */
export interface RecordRules {
  isUsedBy(options: AcquireOptions): boolean;
  /** @throws LockConfigurationError */
  checkOptions(options: AcquireOptions, key: string): void;
}

/**
 * Repairs what a holder that vanished inside has left, by the function of the call that has the lock now. Calls in the function share
 * the lock. If it fails, the lock is released with the record as it was found, so that the next one recovers.
 */
export async function recover(
  lock: AcquiredLock,
  { recover: repair }: AcquireOptions,
  service: object,
  { events }: { readonly events: LockEvents },
): Promise<void> {
  if (repair === undefined) return;
  const { hold, handle } = lock;
  let repairing: Promise<unknown> | undefined;
  try {
    repairing = runInFrame(frameFor(service, hold.request.owner, [lock]), () => repair(handle));
    await untilDoneOrLost(repairing, hold, events);
    await hold.recordWrites.recovered();
  } catch (error) {
    // Where an operator has broken the lock, the function still keeps others out until it has ended.
    void releaseBehind(repairing, lock);
    throw error;
  }
}
