import { answerWithinMs, Deadline } from '../../lock/deadline.js';
import { DeadlockError } from '../../lock/errors.js';
import type { EngineContext } from '../context.js';
import type { LockTransaction } from '../lock-service.js';
import type { CallFacts, LockTaker } from '../acquire/lock-taker.js';
import { frameFor, type OwnedLock, runInFrame } from '../bounds/owner-context.js';
import { GrowingTransaction } from './transaction.js';
import { untilDoneOrLost } from '../hold/until-done-or-lost.js';

const MAX_PAUSE_MS = 100;

export type TransactionWork<T> = (tx: LockTransaction) => T | PromiseLike<T>;

/**
 * Runs `work` as a transaction, again and again while it is a deadlock's victim and time is left; once where the module's
 * `waitMs` is 0, as it waits for nothing then.
 */
export async function runTransaction<T>(
  context: EngineContext,
  taker: LockTaker,
  work: TransactionWork<T>,
  call: CallFacts,
): Promise<T> {
  const { alarms, settings } = context;
  for (;;) {
    try {
      return await runOnce(context, taker, work, call);
    } catch (error) {
      if (!(error instanceof DeadlockError) || settings.waitMs === 0 || call.deadline.hasPassed()) throw error;
    }
    await alarms.pause(settings.random() * Math.min(MAX_PAUSE_MS, call.deadline.remainingMs()));
  }
}

async function runOnce<T>(
  { clock, settings, identifiers, outbox, events }: EngineContext,
  taker: LockTaker,
  work: TransactionWork<T>,
  { service, deadline }: CallFacts,
): Promise<T> {
  const locks: OwnedLock[] = [];
  const frame = frameFor(service, identifiers, locks);
  const { owner } = frame;
  const tx = new GrowingTransaction(
    locks,
    deadline,
    // Not `async`: between the last look at a grant and its caller there are no more turns of promises than need be.
    (key, mode, end, suspicion) => {
      const take = (): Promise<OwnedLock> => {
        // Where nothing is waited for, each lock has the time of an answer: the work in between may take longer than that.
        const rest = Deadline.after(clock, settings.waitMs === 0 ? answerWithinMs(0) : deadline.remainingMs());
        return taker.take(key, { mode }, { service, deadline: rest, owner, end, suspicion });
      };
      return taker.firstConnectionToTake(key, { mode }, { service, deadline, end })?.then(take) ?? take();
    },
    settings.random,
  );
  try {
    const running = runInFrame(frame, () => work(tx));
    const result = await untilDoneOrLost(running, tx, events);
    for (const { handle } of locks) handle.assertHeld();
    return result;
  } finally {
    tx.end();
    const released = Promise.all(locks.map(({ handle }) => handle.release()));
    await (tx.signal.aborted ? outbox.emptied() : released);
  }
}
