import type { Deadline } from '../../lock/deadline.js';
import { LockAbortedError, type LockError } from '../../lock/errors.js';
import type { Member } from '../roster.js';
import type { Timers } from '../timers.js';
import { Roster } from '../roster.js';
import { Wait } from '../wait.js';
import { onAbort } from './on-abort.js';
import { busyError, type LinkFacts, timeoutError } from './timeouts.js';

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
