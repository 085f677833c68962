import { performance } from 'node:perf_hooks';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
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
  /**
   * For a clock whose timers keep no process alive: keeps it alive until this is cancelled, as somebody awaits what a
   * timer is to bring. Undefined where timers do so by themselves.
   */
  readonly keepAwake?: () => Timer;
  /** Milliseconds since 1970, for what people read. Nothing is decided by it. @default Date.now */
  readonly wallNow?: () => number;
}

/** The date as this clock has it: in the simulator that of the simulation. */
export function wallNow(clock: Clock): number {
  return clock.wallNow?.() ?? Date.now();
}

/** Node takes a longer delay for 1 ms. */
const MAX_DELAY_MS = 0x7fff_ffff;

/** Node's timers come up to a millisecond early, and know no delay of more than 24 days. */
class SystemTimer implements Timer {
  readonly #at: number;
  readonly #callback: () => void;
  readonly #isResting: boolean;
  #handle: NodeJS.Timeout;

  /** @param isResting whether the process may end before it fires */
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
  setTimer: (delayMs, callback) => outsideCalls(() => new SystemTimer(delayMs, callback, false)),
};

/**
 * The same clock for a session in memory. A session over a socket ends when the process does, and the socket keeps the
 * process alive because a server is at its other end; here nobody is, and a test that does not close its application
 * would never end.
 */
export const restingClock: Clock = {
  now: () => performance.now(),
  setTimer: (delayMs, callback) => outsideCalls(() => new SystemTimer(delayMs, callback, true)),
  keepAwake: () => {
    const handle = outsideCalls(() => setInterval(() => undefined, MAX_DELAY_MS));
    return { cancel: () => clearInterval(handle) };
  },
};
