import type { Clock } from '../../lock/clock.js';
import { answerWithinMs, Deadline } from '../../lock/deadline.js';
import { DeadlockError, LockConfigurationError } from '../../lock/errors.js';
import type { Call, LockCalls, AcquiredLock } from '../acquire/lock-calls.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { LockEvents } from '../bounds/lock-events.js';
import { frameFor, type Identifiers, runInFrame } from '../bounds/owner-context.js';
import { untilDoneOrLost } from '../hold/held-lock.js';
import type { LockTransaction } from '../lock-service.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { Janitor } from '../upkeep/janitor.js';
import type { LinkState } from '../upkeep/link-state.js';
import { GrowingTransaction, type Suspicion } from './transaction.js';

/** The longest pause before another run. Its length is random, so that two victims do not meet again. */
const MAX_PAUSE_MS = 100;

/** The parts of a lock service that transactions need. */
export interface TransactionParts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly link: LinkState;
  readonly janitor: Janitor;
  readonly events: LockEvents;
  readonly identifiers: Identifiers;
  readonly lockCalls: LockCalls;
  readonly waitMs: number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

export type TransactionWork<T> = (tx: LockTransaction) => T | PromiseLike<T>;

/**
 * Runs `work` as a transaction. While the transaction is the victim of a deadlock and time is left, it runs again, except
 * where the module's `waitMs` is 0.
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
  const { clock, waitMs, identifiers, janitor, events, lockCalls } = parts;
  const locks: AcquiredLock[] = [];
  const frame = frameFor(service, identifiers, locks);
  const { owner } = frame;
  const tx = new GrowingTransaction(
    locks,
    deadline,
    // An `async` function would put more turns of promises between the last check of a lock and its caller.
    (key, mode, end, suspicion) => {
      const acquire = (): Promise<AcquiredLock> => {
        // With a `waitMs` of 0 each lock has the time of one answer, counted anew, as the work in between may take longer.
        const rest = Deadline.after(clock, waitMs === 0 ? answerWithinMs(0) : deadline.remainingMs());
        const limit = suspicion && ((scope: CallScope): void => suspectDeadlock(parts, suspicion, scope));
        return lockCalls.acquire(key, { mode }, { service, deadline: rest, owner, end, limit });
      };
      return lockCalls.firstConnectionToAcquire(key, { mode }, { service, deadline, end })?.then(acquire) ?? acquire();
    },
    parts.random,
  );
  try {
    const running = runInFrame(frame, () => work(tx));
    const result = await untilDoneOrLost(running, tx, events);
    // The work counts as done only under all its locks, so one that it released itself is an error, too.
    for (const { handle } of locks) handle.assertHeld();
    return result;
  } finally {
    tx.end();
    const released = Promise.all(locks.map(({ handle }) => handle.release()));
    // After a loss there may be no link, and the caller should know of the loss at once.
    await (tx.signal.aborted ? janitor.removalsSent() : released);
  }
}

/**
 * Ends a wait that may be part of a circle. Only the time that a call waits behind others while the link is up counts.
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
    // While ZooKeeper is away nobody's turn comes. The deadline of the call ends such a wait.
    if (link.isUp) timer = timers.set(clock.now() + afterMs, suspect);
  };
  const suspect = (): void => {
    // A call that has seen nobody in front of it waits for a silent server, not for another lock.
    if (scope.isBehindOthers) scope.end(error());
    else watch();
  };
  scope.onDispose(link.onChange('calls', watch));
  scope.onDispose(() => timer?.cancel());
  watch();
}

/**
 * Checks the arguments of `transaction`, which JavaScript may call with options that nobody would read.
 * @throws LockConfigurationError for anything but a function alone
 */
export function checkTransactionCall(work: unknown, more: readonly unknown[], waitMs: number): void {
  const hasMore = more.some((argument) => argument !== undefined);
  if (typeof work === 'function' && !hasMore) return;
  const misuse = hasMore
    ? 'transaction(work) takes only its work, and no options'
    : `transaction(work): work must be a function of the transaction, not ${shown(work)}`;
  throw new LockConfigurationError(
    `${misuse}. All its waits together may take the waitMs of the lock service, ${waitMs} ms. Write ` +
      'transaction(async (tx) => { ... }), and set waitMs in forRoot or createLockService; if one transaction needs another ' +
      'waitMs, make a second lock service that has it',
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `of type ${typeof value}`;
}
