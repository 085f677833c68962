import { performance } from 'node:perf_hooks';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import { outsideCalls } from './outside-calls.js';

// The timers come from Node's own modules. Test runners replace the global ones by fake timers, and a session whose
// time nobody advances would neither answer nor end.

/** A timer that has been set. Cancelling a timer that has fired does nothing. */
export interface Timer {
  cancel(): void;
}

/**
 * The source of time. Everything that waits or judges certainty asks a clock and never `Date`: the wall clock may jump,
 * and the simulator runs whole fleets on a virtual clock.
 */
export interface Clock {
  /** Milliseconds on a monotonic clock. Only differences mean anything. */
  now(): number;
  /**
   * Calls `callback` once, `delayMs` from now at the earliest, in the async context of no call: many calls may share a
   * timer.
   */
  setTimer(delayMs: number, callback: () => void): Timer;
  /**
   * Keeps the process alive until the returned timer is cancelled, because a caller awaits what a timer is to bring.
   * Undefined where timers keep the process alive by themselves.
   */
  readonly keepAwake?: () => Timer;
  /** Milliseconds since 1970, for people to read. Nothing is decided by them. @default Date.now */
  readonly wallNow?: () => number;
}

/** The date by this clock; in the simulator it is the date of the simulation. */
export function wallNow(clock: Clock): number {
  return clock.wallNow?.() ?? Date.now();
}

/** Node turns a longer delay into 1 ms. */
const MAX_DELAY_MS = 0x7fff_ffff;

/** A timer over Node's own, which fire up to a millisecond early and allow no delay of more than 24 days. */
class SystemTimer implements Timer {
  readonly #at: number;
  readonly #callback: () => void;
  readonly #isResting: boolean;
  #handle: NodeJS.Timeout;

  /** @param isResting whether the process may end before the timer fires */
  constructor(delayMs: number, callback: () => void, isResting: boolean) {
    this.#at = performance.now() + delayMs;
    this.#callback = callback;
    this.#isResting = isResting;
    this.#handle = this.#arm(delayMs);
  }

  #arm(delayMs: number): NodeJS.Timeout {
    const handle = setTimeout(() => this.#fire(), Math.min(MAX_DELAY_MS, Math.ceil(delayMs)));
    return this.#isResting ? handle.unref() : handle;
  }

  #fire(): void {
    const leftMs = this.#at - performance.now();
    // A timer that fired early, or whose delay was cut to the longest one, is set again for the rest.
    if (leftMs > 0) this.#handle = this.#arm(leftMs);
    else this.#callback();
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }
}

/**
 * The process's own monotonic clock. On Linux it stands still while the machine sleeps; fencing tokens cover that case.
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimer: (delayMs, callback) => outsideCalls(() => new SystemTimer(delayMs, callback, false)),
};

/**
 * The same clock for a session in memory. A socket keeps the process alive for the sake of the server at its other end.
 * A session in memory has no such server: if it kept the process alive, a test that does not close its application
 * would never end.
 */
export const restingClock: Clock = {
  now: () => performance.now(),
  setTimer: (delayMs, callback) => outsideCalls(() => new SystemTimer(delayMs, callback, true)),
  keepAwake: () => {
    // An interval without work keeps the event loop alive, and nothing else.
    const handle = outsideCalls(() => setInterval(() => undefined, MAX_DELAY_MS));
    return { cancel: () => clearInterval(handle) };
  },
};
