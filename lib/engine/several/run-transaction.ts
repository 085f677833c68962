import type { Clock } from '../../lock/clock.js';
import { answerWithinMs, Deadline } from '../../lock/deadline.js';
import { DeadlockError, LockConfigurationError } from '../../lock/errors.js';
import type { Call, LockTaker, TakenLock } from '../acquire/lock-taker.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { LockEvents } from '../bounds/lock-events.js';
import { frameFor, type Identifiers, runInFrame } from '../bounds/owner-context.js';
import { untilDoneOrLost } from '../hold/held-lock.js';
import type { LockTransaction } from '../lock-service.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { LinkState } from '../upkeep/link-state.js';
import type { Outbox } from '../upkeep/outbox.js';
import { GrowingTransaction, type Suspicion } from './transaction.js';

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

/**
 * Ends a wait that may be one in a circle. Only the time behind others on a link that is up makes suspicious: while
 * ZooKeeper is away, or silent, nobody's turn comes, and the deadline of the call ends such a wait.
 */
export function suspectDeadlock(
  { link, timers }: { readonly link: LinkState; readonly timers: Timers },
  { afterMs, error }: Suspicion,
  scope: CallScope,
): void {
  const { clock } = scope.deadline;
  let timer: PendingTimer | undefined;
  const watch = (): void => {
    timer?.cancel();
    if (link.isUp) timer = timers.set(clock.now() + afterMs, suspect);
  };
  const suspect = (): void => {
    if (scope.isBehindOthers) scope.end(error());
    else watch();
  };
  scope.onDispose(link.onChange('calls', watch));
  scope.onDispose(() => timer?.cancel());
  watch();
}

/**
 * JavaScript calls `transaction` with whatever is at hand. Options that nobody reads would make it wait for longer than they say.
 * @throws LockConfigurationError for anything but a function alone
 */
export function checkTransactionCall(work: unknown, more: readonly unknown[], waitMs: number): void {
  const hasMore = more.some((argument) => argument !== undefined);
  if (typeof work === 'function' && !hasMore) return;
  const misuse = hasMore
    ? 'transaction(work) takes no options, and nothing beside its work'
    : `transaction(work): work must be a function of the transaction, not ${shown(work)}`;
  throw new LockConfigurationError(
    `${misuse}. What counts is the waitMs of the lock service, ${waitMs} ms for all of its waits together. Write ` +
      'transaction(async (tx) => { ... }), and set waitMs in forRoot or createLockService; where one transaction needs another ' +
      'time, make a second lock service that has it',
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `of type ${typeof value}`;
}
