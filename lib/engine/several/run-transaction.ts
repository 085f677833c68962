import { answerWithinMs, Deadline } from '../../lock/deadline.js';
import { DeadlockError } from '../../lock/errors.js';
import type { Clock } from '../../lock/clock.js';
import type { CallScope } from '../bounds/call-scope.js';
import { frameFor, type Identifiers, runInFrame } from '../bounds/owner-context.js';
import type { LockEvents } from '../bounds/lock-events.js';
import { suspectDeadlock } from './deadlock-suspicion.js';
import type { Timers } from '../timers.js';
import type { LinkState } from '../upkeep/link-state.js';
import type { Outbox } from '../upkeep/outbox.js';
import type { LockTransaction } from '../lock-service.js';
import type { Call, LockTaker, TakenLock } from '../acquire/lock-taker.js';
import { GrowingTransaction } from './transaction.js';
import { untilDoneOrLost } from '../hold/until-done-or-lost.js';

const MAX_PAUSE_MS = 100;

/** What transactions need of their lock service. */
export interface TransactionParts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly link: LinkState;
  readonly outbox: Outbox;
  readonly events: LockEvents;
  readonly identifiers: Identifiers;
  readonly taker: LockTaker;
  readonly waitMs: number;
  /** In [0, 1). */
  readonly random: () => number;
}

export type TransactionWork<T> = (tx: LockTransaction) => T | PromiseLike<T>;

/**
 * Runs `work` as a transaction, again and again while it is a deadlock's victim and time is left; once where the module's
 * `waitMs` is 0, as it waits for nothing then.
 */
export async function runTransaction<T>(parts: TransactionParts, work: TransactionWork<T>, call: Call): Promise<T> {
  const { timers, waitMs, random } = parts;
  for (;;) {
    try {
      return await runOnce(parts, work, call);
    } catch (error) {
      if (!(error instanceof DeadlockError) || waitMs === 0 || call.deadline.hasPassed()) throw error;
    }
    await timers.pause(random() * Math.min(MAX_PAUSE_MS, call.deadline.remainingMs()));
  }
}

async function runOnce<T>(parts: TransactionParts, work: TransactionWork<T>, { service, deadline }: Call): Promise<T> {
  const { clock, waitMs, identifiers, outbox, events, taker } = parts;
  const locks: TakenLock[] = [];
  const frame = frameFor(service, identifiers, locks);
  const { owner } = frame;
  const tx = new GrowingTransaction(
    locks,
    deadline,
    // Not `async`: between the last look at a grant and its caller there are no more turns of promises than need be.
    (key, mode, end, suspicion) => {
      const take = (): Promise<TakenLock> => {
        // Where nothing is waited for, each lock has the time of an answer: the work in between may take longer than that.
        const rest = Deadline.after(clock, waitMs === 0 ? answerWithinMs(0) : deadline.remainingMs());
        const limit = suspicion && ((scope: CallScope): void => suspectDeadlock(parts, suspicion, scope));
        return taker.take(key, { mode }, { service, deadline: rest, owner, end, limit });
      };
      return taker.firstConnectionToTake(key, { mode }, { service, deadline, end })?.then(take) ?? take();
    },
    parts.random,
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
