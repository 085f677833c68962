import { LockAbortedError, LockClosedError, LockLostError } from '../../lock/errors.js';
import type { AcquireAllOptions, KeyWithMode } from '../lock-service.js';
import type { Call, LockTaker, TakenLock } from '../acquire/lock-taker.js';
import type { Timers } from '../timers.js';
import type { Outbox } from '../upkeep/outbox.js';
import { canonicalOrder, HeldLocks, SharedFate } from './multi-lock.js';

/** Takes all the locks or none, one after the other, by one deadline. A loss on the way ends the wait for the rest. */
export async function acquireAll(
  { timers, outbox }: { readonly timers: Timers; readonly outbox: Outbox },
  taker: LockTaker,
  keys: readonly KeyWithMode[],
  options: AcquireAllOptions,
  facts: Call,
): Promise<HeldLocks> {
  const loss = new AbortController();
  const fate = new SharedFate((error) => loss.abort(error));
  const call = { ...facts, end: loss.signal };
  const taken: TakenLock[] = [];
  const ordered = canonicalOrder(keys, options.mode ?? 'exclusive');
  for (const { key, mode } of ordered) taker.check(key, { ...options, mode });
  try {
    for (const { key, mode } of ordered) {
      const lock = await taker.take(key, { ...options, mode }, call);
      taken.push(lock);
      fate.join(lock.hold);
    }
    const locks = new HeldLocks(taken);
    locks.assertHeld();
    return locks;
  } catch (error) {
    const released = Promise.all(taken.map(({ handle }) => handle.release()));
    if (!isInterruption(error)) await timers.atMost(call.deadline.remainingMs(), released);
    // Also what is not waited for must have left before a caller is told, who may end the process then.
    await outbox.emptied();
    throw error;
  } finally {
    fate.part();
  }
}

/** What ended the wait before its time: the caller wants to hear of it now, and to wait for nothing else. */
function isInterruption(error: unknown): boolean {
  return error instanceof LockAbortedError || error instanceof LockLostError || error instanceof LockClosedError;
}
