import { currentLock } from '../../engine/bounds/owner-context.js';
import { LockConfigurationError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import { covers } from '../../lock/mode.js';
import { assertMayWrite } from '../refusals.js';

/**
 * The lock whose token a request shall show: the one given, or the innermost around the caller that gives a right to write.
 * @throws LockConfigurationError where there is none, before anything is sent
 */
export function writingLock(given: LockHandle | undefined, by: string): LockHandle {
  const lock = given ?? currentLock(({ mode }) => covers(mode, 'write')) ?? currentLock();
  if (lock === undefined) {
    throw new LockConfigurationError(
      `${by}: there is no lock around the caller, so no fencing token to send. Call it inside @Locked or withLock, or give it a handle`,
    );
  }
  assertMayWrite(lock, { by });
  return lock;
}

/** Settles as `lock.whenSure()` does, or rejects with the caller's own reason when the caller gives up before. */
export async function untilSure(lock: LockHandle, giveUp: AbortSignal | undefined): Promise<void> {
  if (giveUp === undefined) return lock.whenSure();
  giveUp.throwIfAborted();
  let onAbort: (() => void) | undefined;
  try {
    await Promise.race([
      lock.whenSure(),
      new Promise<never>((_resolve, reject) => {
        onAbort = () => reject(giveUp.reason as Error);
        giveUp.addEventListener('abort', onAbort, { once: true });
      }),
    ]);
  } finally {
    if (onAbort !== undefined) giveUp.removeEventListener('abort', onAbort);
  }
}
