import type { Subject } from 'rxjs';
import type { LockEvent } from '../lock/events.js';
import type { Hold } from './hold.js';

/**
 * Settles as the work does, or rejects with the loss of the lock as soon as that is known: work that goes on without the
 * lock must not pass for a success. What it comes to then is reported as an event. An error of the work itself is never
 * replaced.
 */
export async function untilDoneOrLost<T>(work: Promise<T>, hold: Hold, events: Subject<LockEvent>): Promise<T> {
  const reportIfLate = (error: unknown): void => {
    if (!hold.isLost) return;
    events.next({ ...hold.facts(), type: 'late-result', error });
  };
  let stopListening: () => void = () => undefined;
  const lost = new Promise<never>((_resolve, reject) => {
    stopListening = hold.onLost(reject);
  });
  try {
    const result = await Promise.race([work, lost]);
    const loss = hold.lossError();
    // Work may give its lock back before it ends.
    if (loss !== undefined && !hold.isReleased) throw loss;
    return result;
  } finally {
    stopListening();
    work.then(() => reportIfLate(undefined), reportIfLate);
  }
}
