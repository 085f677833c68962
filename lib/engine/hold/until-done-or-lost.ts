import type { LockLostError } from '../../lock/errors.js';
import type { Hold } from './hold.js';
import type { LockEvents } from '../bounds/lock-events.js';

/** What work stands on: a hold, or all those of a transaction. */
export interface Footing {
  /** @returns how to stop listening */
  onLost(listener: (error: LockLostError) => void): () => void;
  /** Asks the clock, and not only what has been told. */
  lossError(): LockLostError | undefined;
  /** The hold that was lost, once it is known. */
  readonly lostHold: Hold | undefined;
}

/**
 * Settles as the work does, or rejects with the loss of its lock as soon as that is known: work that goes on without the
 * lock must not pass for a success. What it comes to then is reported as an event. An error of the work itself is never
 * replaced.
 */
export async function untilDoneOrLost<T>(work: Promise<T>, footing: Footing, events: LockEvents): Promise<T> {
  const reportIfLate = (error: unknown): void => {
    const hold = footing.lostHold;
    if (hold !== undefined) events.next({ ...hold.facts(), type: 'late-result', error });
  };
  let stopListening: () => void = () => undefined;
  const lost = new Promise<never>((_resolve, reject) => {
    stopListening = footing.onLost(reject);
  });
  try {
    const result = await Promise.race([work, lost]);
    const loss = footing.lossError();
    // Work may give its lock back before it ends.
    if (loss !== undefined && footing.lostHold !== undefined) throw loss;
    return result;
  } finally {
    stopListening();
    work.then(() => reportIfLate(undefined), reportIfLate);
  }
}
