import type { AbandonedLock } from '../../lock/abandoned.js';
import { checkCheckpoint, checkLeaseMs, checkUpgradeOptions } from '../../lock/acquire-options.js';
import { answerWithinMs, Deadline } from '../../lock/deadline.js';
import { LockConfigurationError, LockLostError } from '../../lock/errors.js';
import { LockHandle, type LockScope, type UpgradeOptions } from '../../lock/handle.js';
import { covers, type LockMode } from '../../lock/mode.js';
import { checkFunction, checkOption, mustBeMillisecondsAboveZero } from '../../lock/option-rules.js';
import { SessionError } from '../../session/errors.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { LockEvents } from '../bounds/owner-context.js';
import { Wait } from '../wait.js';
import type { HoldParts } from './hold-parts.js';
import type { Hold } from './hold.js';
import { RemainingWatch } from './time-left.js';
import { Upgrade } from './upgrade.js';

/** One handle on a hold. Calls that re-enter the lock have handles of their own on the same hold. */
export class HeldLock extends LockHandle {
  readonly #parts: HoldParts;
  readonly #hold: Hold;
  /** The `whenSure` calls that wait through this handle. */
  #waits: Set<Wait> | undefined;
  /** How to stop the early warnings of this handle. */
  #warnings: Set<() => void> | undefined;
  #released: Promise<void> | undefined;

  constructor(parts: HoldParts, hold: Hold) {
    super();
    this.#parts = parts;
    this.#hold = hold;
  }

  get key(): string {
    return this.#hold.request.key;
  }

  get mode(): LockMode {
    return this.#hold.mode;
  }

  get nodePath(): string {
    return this.#hold.contender.path;
  }

  get fencingToken(): bigint {
    if (this.scope === 'fleet') return this.#hold.token;
    const text = `${this.key} is locked in this process only, because ZooKeeper cannot be reached (whenUnavailable: 'local'): there is no token`;
    throw new LockConfigurationError(text, this.key);
  }

  get scope(): LockScope {
    return this.#parts.scope;
  }

  get abandoned(): AbandonedLock | undefined {
    return this.#hold.abandoned;
  }

  get signal(): AbortSignal {
    return this.#hold.signal;
  }

  isHeld(): boolean {
    return this.#released === undefined && this.#hold.isHeld();
  }

  assertHeld(): void {
    const error = this.#hold.lossError();
    if (error !== undefined) throw error;
    if (this.#released !== undefined) throw this.#releasedError();
  }

  remainingMs(): number {
    return this.#released === undefined ? this.#hold.remainingMs() : 0;
  }

  async whenSure(): Promise<void> {
    const { session, link } = this.#parts;
    this.assertHeld();
    if (link.isUp) return;
    const wait = new Wait();
    const stopListening = this.#hold.onLost((error) => wait.end(error));
    const waits = (this.#waits ??= new Set()).add(wait);
    try {
      for (;;) {
        await link.whenUp(wait);
        try {
          // A new link alone proves nothing: the session may have ended while there was none.
          await wait.guard(session.proveLife());
          this.assertHeld();
          return;
        } catch (error) {
          // The link went away again, so the wait goes on.
          if (!(error instanceof SessionError)) throw error;
        }
      }
    } finally {
      stopListening();
      waits.delete(wait);
    }
  }

  extend(leaseMs: number): void {
    checkLeaseMs(leaseMs, this.key);
    this.assertHeld();
    this.#hold.extend(this, leaseMs);
  }

  async upgrade(options: UpgradeOptions = {}): Promise<void> {
    checkUpgradeOptions(options, this.key);
    this.assertHeld();
    if (covers(this.mode, 'write')) return;
    if (this.mode !== 'upgradeable') {
      const text = `Only an upgradeable lock can be upgraded; ${this.key} is held as ${this.mode}. Acquire it with mode 'upgradeable'`;
      throw new LockConfigurationError(text, this.key);
    }
    const { session, scopes, waitMs: usualMs } = this.#parts;
    const { waitMs = usualMs, signal } = options;
    const deadline = Deadline.after(session.clock, answerWithinMs(waitMs));
    const patience = waitMs === 0 ? 'tries' : 'waits';
    const upgrade = (scope: CallScope): Promise<void> => new Upgrade(this.#parts, this.#hold, scope, patience).run();
    await scopes.run(this.key, deadline, { signal }, upgrade);
    // This call may have waited for the upgrade of another handle. Callers that learned of it first may have blocked the
    // event loop since.
    this.assertHeld();
  }

  async checkpoint(data: unknown): Promise<void> {
    checkCheckpoint(data, this.key);
    this.assertHeld();
    await this.#hold.recordWrites.checkpoint(data);
    this.assertHeld();
  }

  onRemaining(belowMs: number, callback: (remainingMs: number) => void): () => void {
    checkOption('belowMs', belowMs, mustBeMillisecondsAboveZero(), this.key);
    checkFunction('callback', callback, 'onRemaining(3_000, (remainingMs) => { ... })', this.key);
    this.assertHeld();
    const warning = new RemainingWatch(this.#parts, this, belowMs, callback);
    const warnings = (this.#hold.warnings ??= new Set()).add(warning);
    const stop = (): void => {
      warning.stop();
      warnings.delete(warning);
      stops.delete(stop);
    };
    const stops = (this.#warnings ??= new Set()).add(stop);
    return stop;
  }

  release(): Promise<void> {
    if (this.#released === undefined) {
      for (const stop of this.#warnings ?? []) stop();
      this.#released = this.#hold.removeHandle(this);
      for (const wait of this.#waits ?? []) wait.end(this.#releasedError());
    }
    return this.#released;
  }

  #releasedError(): LockLostError {
    return new LockLostError(`This handle on ${this.key} has been released`, this.key);
  }
}

/**
 * Gives a lock back. One that somebody has broken keeps others out until the work under it has ended, which puts right what is half
 * done.
 * @param work undefined where none has begun
 */
export function releaseBehind(
  work: Promise<unknown> | undefined,
  { hold, handle }: { readonly hold: Hold; readonly handle: LockHandle },
): Promise<void> {
  if (work === undefined || !hold.isBroken) return handle.release();
  const release = (): Promise<void> => handle.release();
  return work.then(release, release);
}

/** The locks that a piece of work depends on: one hold, or all those of a transaction. */
export interface Footing {
  /** @returns how to stop listening */
  onLost(listener: (error: LockLostError) => void): () => void;
  /** Checks the clock too, as a loss may not have been announced yet. */
  lossError(): LockLostError | undefined;
  /** The hold that was lost, once it is known. */
  readonly lostHold: Hold | undefined;
}

/**
 * Settles as the work does, or rejects with the loss of its lock as soon as the loss is known. The result of work that went
 * on without its lock is reported as an event.
 */
export async function untilDoneOrLost<T>(work: Promise<T>, footing: Footing, events: LockEvents): Promise<T> {
  const reportIfLate = (error: unknown): void => {
    const hold = footing.lostHold;
    // Work that put things right while others were still kept out is not late.
    if (hold?.isBroken === true && error === undefined) return;
    if (hold !== undefined) events.next({ ...hold.facts(), type: 'late-result', error });
  };
  let stopListening: () => void = () => undefined;
  const lost = new Promise<never>((_resolve, reject) => {
    stopListening = footing.onLost(reject);
  });
  try {
    // An error of the work itself leaves here, and no loss replaces it.
    const result = await Promise.race([work, lost]);
    // Work that ended without its lock must not pass for a success, even if no timer has announced the loss yet.
    const loss = footing.lossError();
    // A lock that the work itself released before its end counts as no loss.
    if (loss !== undefined && footing.lostHold !== undefined) throw loss;
    return result;
  } finally {
    stopListening();
    work.then(() => reportIfLate(undefined), reportIfLate);
  }
}
