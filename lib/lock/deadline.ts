import type { Clock } from './clock.js';

/** How long ZooKeeper may take to answer a call that does not wait for a lock at all. */
const ANSWER_WITHIN_MS = 1_000;

/** How long a call may take. A call with a `waitMs` of 0 tries once, and waits only for ZooKeeper's answer. */
export function answerWithinMs(waitMs: number): number {
  return waitMs || ANSWER_WITHIN_MS;
}

/**
 * The end of a wait on the monotonic clock. It is taken once at the public edge and handed down to every await below.
 */
export class Deadline {
  #at: number;

  private constructor(
    readonly clock: Clock,
    at: number,
    readonly startedAt: number,
  ) {
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  static after(clock: Clock, waitMs: number): Deadline {
    const now = clock.now();
    return new Deadline(clock, now + waitMs, now);
  }

  /** Extends the deadline by the time since `since`: that wait had a bound of its own and does not count. */
  putOff(since: number): void {
    this.#at += this.clock.now() - since;
  }

  remainingMs(): number {
    return Math.max(0, this.at - this.clock.now());
  }

  elapsedMs(): number {
    return this.clock.now() - this.startedAt;
  }

  hasPassed(): boolean {
    return this.clock.now() >= this.at;
  }
}
