import type { LockHandle } from '../../../lib/lock/handle.js';

export async function untilAborted({ signal }: LockHandle): Promise<void> {
  // A lease of some milliseconds may have ended before this is called.
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
}
