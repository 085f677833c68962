import { checkAcquireOptions } from '../../lock/acquire-options.js';
import {
  InvalidLockKeyError,
  LockAbortedError,
  LockClosedError,
  LockConfigurationError,
  LockLostError,
} from '../../lock/errors.js';
import { type LockHandle, MultiLockHandle } from '../../lock/handle.js';
import { LockBrokenError } from '../../lock/intervention-errors.js';
import { type LockMode, strongest } from '../../lock/mode.js';
import { shown } from '../../lock/shown.js';
import type { Call, LockCalls, AcquiredLock } from '../acquire/lock-calls.js';
import type { Hold } from '../hold/hold.js';
import { checkKey } from '../key.js';
import type { AcquireAllOptions, KeyWithMode } from '../lock-service.js';
import type { Timers } from '../timers.js';
import type { Janitor } from '../upkeep/janitor.js';

/** The parts of a lock service that `acquireAll` needs. */
interface AcquireAllParts {
  readonly timers: Timers;
  readonly janitor: Janitor;
  readonly lockCalls: LockCalls;
}

/** Acquires all locks or none, one after the other, by one deadline. The loss of one ends the wait for the rest. */
export async function acquireAll(
  { timers, janitor, lockCalls }: AcquireAllParts,
  keys: readonly KeyWithMode[],
  options: AcquireAllOptions,
  facts: Call,
): Promise<HeldLocks> {
  const loss = new AbortController();
  const fate = new SharedFate((error) => loss.abort(error));
  const call = { ...facts, end: loss.signal };
  const acquired: AcquiredLock[] = [];
  const ordered = canonicalOrder(keys, options.mode ?? 'exclusive');
  // A bad key or option is an error before any lock is acquired.
  for (const { key, mode } of ordered) lockCalls.check(key, { ...options, mode });
  try {
    for (const { key, mode } of ordered) {
      const lock = await lockCalls.acquire(key, { ...options, mode }, call);
      acquired.push(lock);
      fate.join(lock.hold);
    }
    const locks = new HeldLocks(acquired);
    // The promises since the last lock began took turns, in which another caller may have blocked the event loop.
    locks.assertHeld();
    return locks;
  } catch (error) {
    for (const { hold } of acquired) hold.unused();
    const released = Promise.all(acquired.map(({ handle }) => handle.release()));
    if (!isInterruption(error)) await timers.atMost(call.deadline.remainingMs(), released);
    // The caller may end the process once it has this error, so the removals must have left the process by then.
    await janitor.removalsSent();
    throw error;
  } finally {
    fate.part();
  }
}

/** An abort, a loss or the closing interrupts the call. Its caller wants to know at once, and waits for no release. */
function isInterruption(error: unknown): boolean {
  return error instanceof LockAbortedError || error instanceof LockLostError || error instanceof LockClosedError;
}

/** Every caller acquires its locks in this order. A key that was named twice is there once, in the strongest mode. */
export function canonicalOrder(keys: readonly KeyWithMode[], defaultMode: LockMode): { key: string; mode: LockMode }[] {
  if (!Array.isArray(keys)) throw new LockConfigurationError(`keys: must be a list of keys, not ${shown(keys)}`);
  const modes = new Map<string, LockMode>();
  for (const entry of keys as readonly KeyWithMode[]) {
    const { key, mode = defaultMode } = typeof entry === 'object' && entry !== null ? entry : { key: entry };
    checkKey(key);
    // An unknown mode would count as the weaker one below, and go unnoticed.
    checkAcquireOptions({ mode }, key);
    const before = modes.get(key);
    modes.set(key, before === undefined ? mode : strongest(before, mode));
  }
  // The order is by code units, as locales differ between processes, which must all agree.
  return [...modes].map(([key, mode]) => ({ key, mode })).sort((left, right) => (left.key < right.key ? -1 : 1));
}

/** Listens to the loss of several holds until `part` is called. Others may share these holds for much longer. */
export class SharedFate {
  readonly #stops: (() => void)[] = [];
  #hasParted = false;

  constructor(private readonly onLost: (error: LockLostError) => void) {}

  join(hold: Hold): void {
    const stop = hold.onLost(this.onLost);
    // A hold that was lost already calls back from within `onLost`, which may have led to `part`.
    if (this.#hasParted) stop();
    else this.#stops.push(stop);
  }

  part(): void {
    this.#hasParted = true;
    for (const stop of this.#stops.splice(0)) stop();
  }
}

/** Locks that were acquired together, and are lost and released together. */
export class HeldLocks extends MultiLockHandle {
  readonly locks: readonly LockHandle[];
  readonly #owned: readonly AcquiredLock[];
  readonly #controller = new AbortController();
  readonly #fate = new SharedFate((error) => this.#lose(error));
  #released: Promise<void> | undefined;

  constructor(owned: readonly AcquiredLock[]) {
    super();
    this.#owned = owned;
    this.locks = owned.map(({ handle }) => handle);
    for (const { hold } of owned) this.#fate.join(hold);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  fencingToken(key: string): bigint {
    const lock = this.locks.find((one) => one.key === key);
    if (lock !== undefined) return lock.fencingToken;
    throw new InvalidLockKeyError(
      `${key} is not one of the locks held together (${this.locks.map((one) => one.key).join(', ')})`,
      key,
    );
  }

  isHeld(): boolean {
    return !this.signal.aborted && this.locks.every((lock) => lock.isHeld());
  }

  assertHeld(): void {
    this.signal.throwIfAborted();
    for (const lock of this.locks) lock.assertHeld();
  }

  remainingMs(): number {
    return this.isHeld() ? Math.min(...this.locks.map((lock) => lock.remainingMs())) : 0;
  }

  async whenSure(): Promise<void> {
    await Promise.all(this.locks.map((lock) => lock.whenSure()));
    this.assertHeld();
  }

  release(): Promise<void> {
    this.#fate.part();
    this.#released ??= Promise.all(this.locks.map((lock) => lock.release())).then(() => undefined);
    return this.#released;
  }

  /** Ends all after the loss of one lock. */
  #lose(cause: LockLostError): void {
    if (this.#released !== undefined || this.#controller.signal.aborted) return;
    const [first] = this.locks;
    this.#controller.abort(lostTogether(cause, first?.key));
    // Nobody must work with a part of the locks.
    for (const { hold } of this.#owned) hold.loseWithSiblings(cause);
    // A broken lock keeps others out until the caller has put right what is half done, and releases these locks.
    if (cause instanceof LockBrokenError) return;
    // Locks that other callers share are not lost with these. Only this handle on them is released.
    void this.release();
  }
}

function lostTogether(cause: LockLostError, key: string | undefined): LockLostError {
  const { evidence } = cause;
  const text = `Locks held together are lost. ${cause.details}`;
  if (!(cause instanceof LockBrokenError)) return new LockLostError(text, key, { cause, evidence });
  return new LockBrokenError(text, key, { cause, evidence, by: cause.by, reason: cause.reason });
}
