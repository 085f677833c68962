import type { Deadline } from '../../lock/deadline.js';
import { LockAbortedError, type LockError, LockTimeoutError, LockUnavailableError } from '../../lock/errors.js';
import type { ConnectionState } from '../../session/connection-state.js';
import { type Member, Roster } from '../roster.js';
import type { Timers } from '../timers.js';
import { Wait } from '../wait.js';

/** What may end a call from outside, besides its deadline. */
export interface Ends {
  /** The caller's own. */
  readonly signal?: AbortSignal | undefined;
  /** Aborts when what the lock was to be a part of is over. Its reason is the `LockError` that ends the call. */
  readonly end?: AbortSignal | undefined;
}

/**
 * What bounds one call: its deadline, the caller's signal, the end of what it is a part of, the service closing. It also
 * knows what it means that the time is up: the lock was busy, or ZooKeeper was away.
 */
export class CallScope extends Wait implements Member {
  rosterIndex = -1;
  readonly openedAt: number;
  #describeHolder: (() => string | undefined) | undefined;
  #isBehindOthers = false;
  readonly #cleanups: (() => void)[] = [];

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

  /**
   * Others were seen in its way: from now on it is busy that the time is up, while the link is up.
   * @param describeHolder who holds the lock, as a sentence; asked when the time is up
   */
  standsBehind(describeHolder?: () => string | undefined): void {
    this.#isBehindOthers = true;
    this.#describeHolder = describeHolder;
  }

  /** What it means that the time is up now. */
  timeUp(): LockError {
    if (this.link.isUp && this.#isBehindOthers) return busyError(this.key, this.deadline, this.#describeHolder?.());
    return timeoutError(this.link, this.key, this.deadline, this.openedAt);
  }

  onDispose(cleanup: () => void): void {
    this.#cleanups.push(cleanup);
  }

  /** The call is over: takes away the timer and the listeners that were set for it. */
  dispose(): void {
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
  }
}

/** Makes the scopes of the calls that are under way now, and can end them all. */
export class CallScopes {
  readonly #timers: Timers;
  readonly #link: LinkFacts;
  readonly #open = new Roster<CallScope>();
  #onEmpty: (() => void) | undefined;

  constructor(timers: Timers, link: LinkFacts) {
    this.#timers = timers;
    this.#link = link;
  }

  /** Runs `work` inside a scope, which is disposed of when its promise settles. */
  async run<T>(key: string, deadline: Deadline, ends: Ends, work: (scope: CallScope) => Promise<T>): Promise<T> {
    const scope = this.#openScope(key, deadline, ends);
    try {
      if (scope.error !== undefined) throw scope.error;
      return await work(scope);
    } finally {
      scope.dispose();
    }
  }

  #openScope(key: string, deadline: Deadline, { signal, end }: Ends): CallScope {
    const scope = new CallScope(key, deadline, this.#link);
    // First, as it is the caller's own object: one that throws leaves nothing behind.
    if (signal !== undefined) {
      const text = `The wait for ${key} was aborted by the caller`;
      endOnAbort(scope, signal, (cause) => new LockAbortedError(text, key, { cause }));
    }
    const timer = this.#timers.setAwaited(deadline.at, () => scope.end(scope.timeUp()));
    this.#open.add(scope);
    scope.onDispose(() => {
      timer.cancel();
      this.#open.delete(scope);
      if (this.#open.size === 0) this.#onEmpty?.();
    });
    if (end !== undefined) endOnAbort(scope, end, (reason) => reason as LockError);
    return scope;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Resolves when no call is under way, at once if so. Each has handed its leftovers to the janitor by then. */
  async whenEmpty(): Promise<void> {
    if (!this.isEmpty) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  endAll(error: () => LockError): void {
    for (const scope of this.#open.all()) scope.end(error());
  }
}

/** `describe` makes the error of the signal's reason. At once, if the signal has aborted. */
function endOnAbort(scope: CallScope, signal: AbortSignal, describe: (reason: unknown) => LockError): void {
  const abort = (): void => scope.end(describe(signal.reason));
  if (signal.aborted) {
    abort();
    return;
  }
  scope.onDispose(onAbort(signal, abort));
}

/** Who has waited for less cannot tell a silent link from one that had no time to answer. */
const SILENCE_MS = 200;

/** What there is to know of the link to ZooKeeper when the time is up. */
interface LinkFacts {
  readonly isUp: boolean;
  readonly state: ConnectionState;
  /** What went wrong with each server, for people; '' where nothing did. */
  describeFailures(): string;
}

/** The time is up, and nobody was seen in the way: ZooKeeper was not there, or had no time to answer. */
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

/** @param holder who holds it, as a sentence; '' or undefined where nobody was seen */
export function busyError(key: string, deadline: Deadline, holder?: string): LockTimeoutError {
  const who = holder || 'Others hold it, or are ahead in the queue: inspect(key) says who';
  const waitedMs = Math.round(deadline.elapsedMs());
  return new LockTimeoutError(`The lock ${key} was still busy after ${waitedMs} ms. ${who}`, key);
}

interface Waiters {
  readonly callbacks: Set<() => void>;
  readonly tellAll: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiters>();

/**
 * Calls back when the signal aborts. One listener for all who wait for the same signal: an application's own for its
 * shutdown is given to every call, and Node warns of a leak from the eleventh listener on.
 * @returns how to stop listening; the last one takes the listener off the signal
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, tellAll } = waiting.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
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
