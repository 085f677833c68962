import type { Clock, Timer } from '../lock/clock.js';
import { Heap } from '../lock/heap.js';

/** A callback that is due at an instant, unless it is cancelled first. */
export class PendingTimer implements Timer {
  constructor(
    readonly at: number,
    public callback: (() => void) | undefined,
    readonly owner: Timers,
    readonly isAwaited: boolean,
  ) {}

  cancel(): void {
    if (this.callback === undefined) return;
    this.callback = undefined;
    this.owner.cancelled(this);
  }
}

/** A timer of the clock that is due so soon is kept when nothing is pending any more: the next lock most likely needs it. */
const SOON_MS = 1_000;

/**
 * Any number of instants on one timer: a heap, of which the timer knows the earliest. Cancelling only marks; what was
 * marked is dropped when it comes up, or when it makes up most of the heap.
 */
export class Timers {
  readonly #heap = new Heap<PendingTimer>((one, other) => one.at < other.at);
  #live = 0;
  #awaited = 0;
  #awake: Timer | undefined;
  #timer: Timer | undefined;
  #timerAt = Infinity;

  constructor(private readonly clock: Clock) {}

  /** @throws RangeError for NaN, behind which nothing in the heap would ever be due */
  set(at: number, callback: () => void): PendingTimer {
    return this.#set(new PendingTimer(at, callback, this, false));
  }

  /** Does what `set` does for a timer that a caller awaits: the process does not end before it. */
  setAwaited(at: number, callback: () => void): PendingTimer {
    return this.#set(new PendingTimer(at, callback, this, true));
  }

  /** Resolves with the promise, or when the time is up. */
  atMost(durationMs: number, promise: Promise<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.setAwaited(this.clock.now() + durationMs, resolve);
      promise.then(() => resolve(), reject).finally(() => timer.cancel());
    });
  }

  pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => this.setAwaited(this.clock.now() + durationMs, resolve));
  }

  cancelled(timer: PendingTimer): void {
    this.#live -= 1;
    this.#noLongerAwaited(timer);
    if (this.#live === 0) {
      this.#heap.clear();
      if (this.#timerAt - this.clock.now() > SOON_MS) this.rest();
    } else if (this.#heap.size > 64 && this.#heap.size > 4 * this.#live) {
      this.#heap.keep(({ callback }) => callback !== undefined);
    }
  }

  /** Cancels the clock's timer if nothing is pending: it would keep the process alive. */
  rest(): void {
    if (this.#live > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAt = Infinity;
  }

  #fire(): void {
    this.#timer = undefined;
    this.#timerAt = Infinity;
    try {
      this.#fireDue();
    } finally {
      // An error of one is an error of the timer: the process hears of it as of any uncaught one. Those behind it, which may
      // be due as well and are the business of other calls, go off in the next turn.
      const next = this.#heap.first;
      if (next !== undefined && next.at < this.#timerAt) this.#arm(next.at);
    }
  }

  #fireDue(): void {
    const now = this.clock.now();
    for (
      let next = this.#heap.first;
      next !== undefined && (next.callback === undefined || next.at <= now);
      next = this.#heap.first
    ) {
      this.#heap.shift();
      const { callback } = next;
      if (callback === undefined) continue;
      next.callback = undefined;
      this.#live -= 1;
      this.#noLongerAwaited(next);
      callback();
    }
  }

  #set(timer: PendingTimer): PendingTimer {
    if (Number.isNaN(timer.at)) throw new RangeError('A timer must have an instant');
    this.#heap.push(timer);
    this.#live += 1;
    if (timer.isAwaited) {
      this.#awaited += 1;
      this.#awake ??= this.clock.keepAwake?.();
    }
    if (timer.at < this.#timerAt) this.#arm(timer.at);
    return timer;
  }

  #noLongerAwaited({ isAwaited }: PendingTimer): void {
    if (!isAwaited) return;
    this.#awaited -= 1;
    if (this.#awaited > 0) return;
    this.#awake?.cancel();
    this.#awake = undefined;
  }

  #arm(at: number): void {
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = this.clock.setTimer(Math.max(0, at - this.clock.now()), () => this.#fire());
  }
}
