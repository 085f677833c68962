import type { Clock, Timer } from './clock.js';

/** For those who would not wait for a lock at all: ZooKeeper may take so long to say whether it is free. */
const ANSWER_WITHIN_MS = 1_000;

/** How long a call may take. To wait for no time at all is to try once, and what there is to wait for is ZooKeeper's answer. */
export function answerWithinMs(waitMs: number): number {
  return waitMs || ANSWER_WITHIN_MS;
}

/** The end of a wait: taken once at the public edge, on the monotonic clock, and handed down to every await below. */
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

  /** What has been waited for since `since` has a bound of its own, and does not count. */
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

  /** One timer for the whole call: the caller cancels it when the call ends. */
  onPassed(callback: () => void): Timer {
    return this.clock.setTimer(this.remainingMs(), callback);
  }
}
