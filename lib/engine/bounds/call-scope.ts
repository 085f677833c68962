import type { Deadline } from '../../lock/deadline.js';
import { LockAbortedError, type LockError, LockTimeoutError, LockUnavailableError } from '../../lock/errors.js';
import type { ConnectionState } from '../../session/connection-state.js';
import { IndexedSet, type Member } from '../collections.js';
import type { LockRequest } from '../contender.js';
import type { PendingTimer, Timers } from '../timers.js';
import { tellEnqueued } from '../traces.js';
import { Wait } from '../wait.js';

/** A call that waited for less time than this cannot tell a silent link from one that had no time to answer. */
const SILENCE_MS = 200;

/** The signals that may end a call before its deadline. */
export interface Ends {
  /** The caller's own signal. */
  readonly signal?: AbortSignal | undefined;
  /** Aborts when the group of locks that this one was for is over. Its reason is the `LockError` that ends the call. */
  readonly end?: AbortSignal | undefined;
}

/** The facts about the link to ZooKeeper that explain a call's time-out. */
interface LinkFacts {
  readonly isUp: boolean;
  readonly state: ConnectionState;
  /** Says what went wrong with each server, for people; '' where nothing did. */
  describeFailures(): string;
}

/** The place of a call in the queue of its key. */
export interface QueuePlace {
  /** How many are ahead, if it has to wait for any of them. */
  readonly ahead: number;
}

/**
 * The bounds of one call: its deadline, the caller's signal, the end of its group of locks, the closing of the service.
 * The scope also knows what a time-out means: the lock was busy, or ZooKeeper was away.
 */
export class CallScope extends Wait implements Member {
  setIndex = -1;
  readonly openedAt: number;
  /** The lock that the call asks for; undefined for a call of another kind. */
  request: LockRequest | undefined;
  #place: QueuePlace | undefined;
  /** The place in the queue that was published last. */
  #toldPlace: QueuePlace | undefined;
  #describeHolder: (() => string | undefined) | undefined;
  #isBehindOthers = false;
  #timer: PendingTimer | undefined;
  #open: CallScopes | undefined;
  #cleanups: (() => void)[] | undefined;

  constructor(
    readonly key: string,
    readonly deadline: Deadline,
    private readonly link: LinkFacts,
  ) {
    super();
    this.openedAt = deadline.clock.now();
  }

  get isBehindOthers(): boolean {
    return this.#isBehindOthers;
  }

  /** Undefined before the call has joined the queue. */
  get place(): QueuePlace | undefined {
    return this.#place;
  }

  /** The call has joined the queue of its key. */
  joined(place: QueuePlace): void {
    if (place === this.#place) return;
    this.#place = place;
    const trace = this.request?.trace;
    if (trace !== undefined) trace.ahead = place.ahead;
  }

  /** Tells those who listen to calls how many are ahead at this place: once, however often the queue is read. */
  placed(place: QueuePlace): void {
    if (place === this.#toldPlace) return;
    this.#toldPlace = place;
    const trace = this.request?.trace;
    // Some may have left before the queue was read, so the greater number is nearer to how many were ahead at the begin.
    const before = place === this.#place ? (trace?.ahead ?? 0) : 0;
    this.#place = place;
    if (trace !== undefined) tellEnqueued(trace, Math.max(before, place.ahead));
  }

  /**
   * Notes that the call waits behind others. From now on a time-out means that the lock was busy, while the link is up.
   * @param describeHolder who holds the lock, as a sentence; called when the time is up
   */
  standsBehind(describeHolder?: () => string | undefined): void {
    this.#isBehindOthers = true;
    this.#describeHolder = describeHolder;
  }

  /** The error that says what a time-out means at this moment. */
  timeUp(): LockError {
    // While the link is down nobody's turn comes, so those in front are not to blame, even if they were seen.
    if (this.link.isUp && this.#isBehindOthers) return busyError(this.key, this.deadline, this.#describeHolder?.());
    return timeoutError(this.link, this.key, this.deadline, this.openedAt);
  }

  /** Must be called when the scope is one of the open ones, with the timer of its deadline. */
  opened(open: CallScopes, timer: PendingTimer): void {
    this.#open = open;
    this.#timer = timer;
  }

  onDispose(cleanup: () => void): void {
    (this.#cleanups ??= []).push(cleanup);
  }

  /** Must be called when the call is over. It removes the timer and the listeners that were set for the call. */
  dispose(): void {
    const cleanups = this.#cleanups ?? [];
    this.#cleanups = undefined;
    for (const cleanup of cleanups) cleanup();
    this.#timer?.cancel();
    this.#open?.delete(this);
  }
}

/** The calls that are under way, each with its scope. By the time the last one ends, each has handed its leftovers to the janitor. */
export class CallScopes extends IndexedSet<CallScope> {
  constructor(
    private readonly timers: Timers,
    private readonly link: LinkFacts,
  ) {
    super();
  }

  /** Runs `work` inside a new scope, and disposes of the scope when the promise settles. */
  async run<T>(key: string, deadline: Deadline, ends: Ends, work: (scope: CallScope) => Promise<T>): Promise<T> {
    const scope = this.open(key, deadline, ends);
    try {
      return await work(scope);
    } finally {
      scope.dispose();
    }
  }

  /** Opens a scope, which its caller must dispose of. @throws what has ended it already */
  open(key: string, deadline: Deadline, { signal, end }: Ends): CallScope {
    const scope = new CallScope(key, deadline, this.link);
    // The signal is the caller's own object and may throw when it is listened to. It comes first, so that nothing else has
    // been set up by then.
    if (signal !== undefined) {
      const text = `The wait for ${key} was aborted by the caller`;
      endOnAbort(scope, signal, (cause) => new LockAbortedError(text, key, { cause }));
    }
    const timer = this.timers.setAwaited(deadline.at, () => scope.end(scope.timeUp()));
    this.add(scope);
    scope.opened(this, timer);
    if (end !== undefined) endOnAbort(scope, end, (reason) => reason as LockError);
    if (scope.error === undefined) return scope;
    scope.dispose();
    throw scope.error;
  }

  endAll(error: () => LockError): void {
    for (const scope of this.all()) scope.end(error());
  }
}

/** Ends the scope when the signal aborts, with the error that `describe` makes of the signal's reason. */
function endOnAbort(scope: CallScope, signal: AbortSignal, describe: (reason: unknown) => LockError): void {
  const abort = (): void => scope.end(describe(signal.reason));
  // A signal that has aborted already dispatches no event any more.
  if (signal.aborted) {
    abort();
    return;
  }
  scope.onDispose(onAbort(signal, abort));
}

/** The error of a call that saw nobody in its way: ZooKeeper was not there, or had no time to answer. */
function timeoutError(link: LinkFacts, key: string, deadline: Deadline, openedAt: number): LockError {
  const within = `within ${Math.round(deadline.elapsedMs())} ms`;
  if (link.isUp && deadline.clock.now() - openedAt < SILENCE_MS)
    return new LockTimeoutError(`There was no time for an answer about the lock ${key} ${within}`, key);
  const trouble = link.isUp ? 'no answer came' : `the connection is ${link.state}`;
  const failures = link.describeFailures();
  const detail = failures === '' ? '' : ` (${failures})`;
  return new LockUnavailableError(
    `ZooKeeper could not be reached for the lock ${key} ${within}: ${trouble}${detail}`,
    key,
  );
}

/**
 * The error of a call that waited behind others.
 * @param holder who holds the lock, as a sentence; '' or undefined where nobody was seen
 */
export function busyError(key: string, deadline: Deadline, holder?: string): LockTimeoutError {
  const who = holder || 'Others hold it, or are ahead in the queue: inspect(key) says who';
  const waitedMs = Math.round(deadline.elapsedMs());
  return new LockTimeoutError(`The lock ${key} was still busy after ${waitedMs} ms. ${who}`, key);
}

/** All callbacks that wait for one signal, and the one listener that calls them. */
interface Waiters {
  readonly callbacks: Set<() => void>;
  readonly tellAll: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiters>();

/**
 * Calls back when the signal aborts. All callbacks for one signal share one listener on it.
 * @returns how to stop listening
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  // An application passes the signal of its shutdown to every call, and Node warns of a leak from the eleventh listener on.
  const { callbacks, tellAll } = waiting.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    // The last callback takes the listener along: a signal that outlives all calls must not keep anything of them.
    if (callbacks.size > 0) return;
    signal.removeEventListener('abort', tellAll);
    waiting.delete(signal);
  };
}

function listen(signal: AbortSignal): Waiters {
  const callbacks = new Set<() => void>();
  const tellAll = (): void => {
    for (const callback of [...callbacks]) callback();
  };
  signal.addEventListener('abort', tellAll, { once: true });
  const waiters = { callbacks, tellAll };
  waiting.set(signal, waiters);
  return waiters;
}
