import { performance } from 'node:perf_hooks';
import { eventually } from '../process/eventually.js';
import type { LockHandle } from '../../../lib/lock/handle.js';

export interface Grant {
  readonly who: string;
  readonly lock: LockHandle;
  readonly token: bigint;
  readonly at: number;
}

/** Stands at the door of one key: who is inside, and whether somebody entered beside one who was certain to hold it. */
export class Witness {
  readonly grants: Grant[] = [];
  readonly violations: string[] = [];
  readonly #inside = new Map<LockHandle, string>();

  /** To be called in the turn in which an acquire of a writing lock has resolved. */
  enter(who: string, lock: LockHandle): void {
    if (!lock.isHeld()) this.violations.push(`${who} was given a lock that is not held`);
    for (const [other, name] of this.#inside) {
      if (other.isHeld()) this.violations.push(`${who} entered while ${name} held ${lock.key}`);
    }
    const before = this.grants.at(-1);
    if (before !== undefined && before.token >= lock.fencingToken) {
      this.violations.push(`${who} has the token ${lock.fencingToken}, after ${before.token} of ${before.who}`);
    }
    this.#inside.set(lock, who);
    this.grants.push({ who, lock, token: lock.fencingToken, at: performance.now() });
  }

  /** To be called before the release. */
  leave(lock: LockHandle): void {
    this.#inside.delete(lock);
  }
}

/** When the signal of a lock aborted, on the monotonic clock; undefined while it has not. */
export function noteAbort(lock: LockHandle): { at: number | undefined } {
  const note: { at: number | undefined } = { at: undefined };
  lock.signal.addEventListener('abort', () => (note.at = performance.now()), { once: true });
  return note;
}

/** Follows the certainty of a lock for as long as it is held: what had been answered already may still prolong it. */
export class CertaintyWatch implements Disposable {
  #until = -Infinity;
  readonly #lock: LockHandle;
  readonly #timer: NodeJS.Timeout;

  constructor(lock: LockHandle) {
    this.#lock = lock;
    this.#look();
    this.#timer = setInterval(() => this.#look(), 10).unref();
  }

  /** The end of its certainty, as it was told last, on the monotonic clock. */
  get until(): number {
    return this.#until;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const remainingMs = this.#lock.remainingMs();
    if (remainingMs > 0) this.#until = now + remainingMs;
  }
}

/** For what is about time itself: nothing else tells that it has passed. */
export async function untilPassed(durationMs: number, since = performance.now()): Promise<void> {
  await eventually(`${durationMs} ms have passed`, () => performance.now() - since >= durationMs, {
    withinMs: durationMs + 10_000,
    everyMs: 10,
  });
}

/** What a promise came to: its value, or the error it was rejected with. */
export function outcomeOf<T>(promise: Promise<T>): Promise<T | Error> {
  return promise.catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
}
