import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { outsideCalls } from './outside-calls.js';

// The timers are those of Node's own modules: test runners put their fake ones in the place of the globals, and a session
// that nobody advances would neither answer nor end.

/** A timer that has been set; cancelling one that fired does nothing. */
export interface Timer {
  cancel(): void;
}

/**
 * Where time comes from. Everything that waits or judges certainty asks a clock, never `Date`: the wall clock may jump,
 * and the simulator runs whole fleets on a virtual one.
 */
export interface Clock {
  /** Milliseconds on a monotonic clock; only differences mean anything. */
  now(): number;
  /** Calls `callback` once, not earlier than `delayMs` from now, and as a part of no call: many may share a timer. */
  setTimer(delayMs: number, callback: () => void): Timer;
}

/** Node takes a longer delay for 1 ms. */
const MAX_DELAY_MS = 0x7fff_ffff;

/** Node's timers come up to a millisecond early, and know no delay of more than 24 days. */
class SystemTimer implements Timer {
  readonly #at: number;
  readonly #callback: () => void;
  #handle: NodeJS.Timeout;

  constructor(delayMs: number, callback: () => void) {
    this.#at = performance.now() + delayMs;
    this.#callback = callback;
    this.#handle = this.#arm(delayMs);
  }

  #arm(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#fire(), Math.min(MAX_DELAY_MS, Math.ceil(delayMs)));
  }

  #fire(): void {
    const leftMs = this.#at - performance.now();
    if (leftMs > 0) this.#handle = this.#arm(leftMs);
    else this.#callback();
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }
}

/** The process's own monotonic clock. It stands still while the machine sleeps (Linux): fencing tokens cover that. */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimer: (delayMs, callback) => outsideCalls(() => new SystemTimer(delayMs, callback)),
};
