import { LockAbortedError, LockClosedError, LockLostError } from '../../lock/errors.js';
import type { EngineContext } from '../context.js';
import type { AcquireAllOptions, KeyWithMode } from '../lock-service.js';
import type { CallFacts, LockTaker } from '../acquire/lock-taker.js';
import { canonicalOrder, HeldLocks, SharedFate } from './multi-lock.js';
import type { OwnedLock } from '../bounds/owner-context.js';

/** Takes all the locks or none, one after the other, by one deadline. A loss on the way ends the wait for the rest. */
export async function acquireAll(
  { alarms, outbox }: EngineContext,
  taker: LockTaker,
  keys: readonly KeyWithMode[],
  options: AcquireAllOptions,
  facts: CallFacts,
): Promise<HeldLocks> {
  const loss = new AbortController();
  const fate = new SharedFate((error) => loss.abort(error));
  const call = { ...facts, end: loss.signal };
  const taken: OwnedLock[] = [];
  const ordered = canonicalOrder(keys, options.mode ?? 'exclusive');
  for (const { key, mode } of ordered) taker.request(key, { ...options, mode });
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
    if (!isInterruption(error)) await alarms.atMost(call.deadline.remainingMs(), released);
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
