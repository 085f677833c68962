import { answerWithinMs, Deadline } from '../../lock/deadline.js';
import { DeadlockError, LockAbortedError, type LockError, type LockLostError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import { InTurn } from '../../lock/in-turn.js';
import { covers, type LockMode } from '../../lock/mode.js';
import type { AcquiredLock, Call, LockCalls } from '../acquire/lock-calls.js';
import { type CallScope, onAbort } from '../bounds/call-scope.js';
import { callerOf, frameFor, type Identifiers, type LockEvents, runInFrame } from '../bounds/owner-context.js';
import { type Footing, releaseBehind, untilDoneOrLost } from '../hold/held-lock.js';
import type { Hold } from '../hold/hold.js';
import type { LockTransaction } from '../lock-service.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { Janitor } from '../upkeep/janitor.js';
import type { LinkState } from '../upkeep/link-state.js';
import { SharedFate } from './acquire-all.js';

/** The longest pause before another run. Its length is random, so that two victims do not meet again. */
const MAX_PAUSE_MS = 100;

/** The parts of a lock service that transactions need. */
export interface TransactionParts {
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
  const { waitMs, identifiers, janitor, events, lockCalls } = parts;
  const locks: AcquiredLock[] = [];
  const frame = frameFor(service, callerOf(identifiers), locks);
  const { owner } = frame;
  const tx = new GrowingTransaction(
    locks,
    deadline,
    // An `async` function would put more turns of promises between the last check of a lock and its caller.
    (key, mode, end, suspicion) => {
      const acquire = (): Promise<AcquiredLock> => {
        // With a `waitMs` of 0 each lock has the time of one answer, counted anew, as the work in between may take longer.
        const rest = Deadline.after(deadline.clock, waitMs === 0 ? answerWithinMs(0) : deadline.remainingMs());
        const limit = suspicion && ((scope: CallScope): void => suspectDeadlock(parts, suspicion, scope));
        return lockCalls.acquire(key, { mode }, { service, deadline: rest, owner, end, limit });
      };
      return lockCalls.firstConnectionToAcquire(key, { mode }, { service, deadline, end })?.then(acquire) ?? acquire();
    },
    parts.random,
  );
  let running: Promise<T> | undefined;
  try {
    running = runInFrame(frame, () => work(tx));
    const result = await untilDoneOrLost(running, tx, events);
    // The work counts as done only under all its locks, so one that it released itself is an error, too.
    for (const { handle } of locks) handle.assertHeld();
    return result;
  } finally {
    tx.end();
    const released = Promise.all(locks.map((lock) => releaseBehind(running, lock)));
    // After a loss there may be no link, and the caller should know of the loss at once.
    await (tx.signal.aborted ? janitor.removalsSent() : released);
  }
}

/**
 * Ends a wait that may be part of a circle. Only the time that a call waits behind others while the link is up counts.
 */
function suspectDeadlock(
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
 * A transaction that holds locks already waits for another one for a part of its time only, between these two, as the wait
 * may be part of a circle.
 */
const SHORTEST_WAIT_PART = 0.05;
const LONGEST_WAIT_PART = 0.2;

/** How long a call may wait behind others before that counts as a deadlock, and the error that ends it then. */
export interface Suspicion {
  readonly afterMs: number;
  readonly error: () => LockError;
}

/** Acquires one lock for the transaction. The reason of `end` is the error that ends the wait. */
export type AcquireLock = (
  key: string,
  mode: LockMode,
  end: AbortSignal,
  suspicion: Suspicion | undefined,
) => Promise<{ hold: Hold; handle: LockHandle }>;

/**
 * The growing phase of strict two-phase locking: locks are added, and none is released before the end. They stand in
 * `locks`, a frame's list, so that code inside can re-enter them. Releasing them is up to whoever made the list.
 */
export class GrowingTransaction implements LockTransaction, Footing {
  readonly #locks: AcquiredLock[];
  readonly #deadline: Deadline;
  readonly #acquire: AcquireLock;
  readonly #random: () => number;
  readonly #controller = new AbortController();
  readonly #fate = new SharedFate((error) => this.#lose(error));
  /** Aborts when no lock is added any more. The reason is the error of the lock that is being acquired. */
  readonly #over = new AbortController();
  #lostHold: Hold | undefined;
  readonly #turns = new InTurn();
  #keyAsked = '';

  constructor(locks: AcquiredLock[], deadline: Deadline, acquire: AcquireLock, random: () => number) {
    this.#locks = locks;
    this.#deadline = deadline;
    this.#acquire = acquire;
    this.#random = random;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The hold whose loss ended the others. */
  get lostHold(): Hold | undefined {
    return this.#lostHold;
  }

  onLost(listener: (error: LockLostError) => void): () => void {
    return onAbort(this.signal, () => listener(this.signal.reason as LockLostError));
  }

  lossError(): LockLostError | undefined {
    // Each hold checks the clock, and calls `#lose` if it finds itself lost.
    for (const { hold } of this.#locks) if (!hold.isReleased) hold.lossError();
    return this.signal.aborted ? (this.signal.reason as LockLostError) : undefined;
  }

  lock(key: string, mode: LockMode = 'exclusive'): Promise<LockHandle> {
    // Locks are acquired one after the other, even when they are asked for together: what is held by then decides how long
    // the next one may wait.
    const locked = this.#turns.run('a lock of this transaction', () => this.#lock(key, mode));
    return locked.then((handle) => {
      // Another caller may have blocked the event loop since the hold began.
      const loss = this.lossError();
      if (loss !== undefined) throw loss;
      return handle;
    });
  }

  async #lock(key: string, mode: LockMode): Promise<LockHandle> {
    const loss = this.lossError();
    if (loss !== undefined) throw loss;
    if (this.#over.signal.aborted) throw endedError(key);
    const known = this.#locks.find(({ handle }) => handle.key === key && covers(handle.mode, mode));
    if (known !== undefined) {
      // The work may have released it on its own.
      known.handle.assertHeld();
      return known.handle;
    }
    this.#keyAsked = key;
    const acquired = await this.#acquire(key, mode, this.#over.signal, this.#suspicion(key));
    // The end or the loss came after the hold began, too late to end the wait.
    if (this.#over.signal.aborted) {
      void acquired.handle.release();
      throw this.#over.signal.reason;
    }
    this.#locks.push(acquired);
    this.#fate.join(acquired.hold);
    return acquired.handle;
  }

  /** Ends the growing phase: no lock is added from now on, and a wait for one ends. */
  end(): void {
    this.#fate.part();
    this.#over.abort(endedError(this.#keyAsked));
  }

  /** Ends all after the loss of one lock. */
  #lose(error: LockLostError): void {
    if (this.signal.aborted) return;
    this.#lostHold = this.#locks.find(({ hold }) => hold.isLost)?.hold;
    this.#controller.abort(error);
    this.#over.abort(error);
    // Nobody must work with a part of the locks. Those that other callers share stay: the transaction's own handles on them are
    // released at its end.
    for (const { hold } of this.#locks) hold.loseWithSiblings(error);
  }

  #suspicion(key: string): Suspicion | undefined {
    // A transaction that holds nothing keeps nobody waiting, so it is part of no circle.
    if (this.#locks.length === 0) return undefined;
    // The time is random, so that of two transactions that wait for each other one gives way first.
    const totalMs = this.#deadline.at - this.#deadline.startedAt;
    const afterMs = totalMs * (SHORTEST_WAIT_PART + this.#random() * (LONGEST_WAIT_PART - SHORTEST_WAIT_PART));
    const held = this.#locks.map(({ handle }) => handle.key).join(', ');
    const text = `Treated as a deadlock: waited for ${key} for ${Math.round(afterMs)} ms while holding ${held}`;
    return { afterMs, error: () => new DeadlockError(text, key) };
  }
}

function endedError(key: string): LockAbortedError {
  return new LockAbortedError(`The transaction has ended, and cannot acquire the lock ${key}`, key);
}
