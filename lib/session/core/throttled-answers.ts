import type { Clock, Timer } from '../../lock/clock.js';
import type { SessionError } from '../errors.js';
import type { Call } from './call.js';

const PAUSE_MS = 200;
/** Calls that were answered together are not sent again together. */
const APART_MS = 2;
/**
 * No call waits behind all the others for longer than this: it may be a heartbeat that locks depend on. Calls beyond
 * that share the same instants.
 */
const LONGEST_MS = 2 * PAUSE_MS;

/**
 * Keeps back the answer of a server that is too busy. A caller that gets it asks again at once, over and over, and this
 * is the one place that all callers pass.
 */
export class ThrottledAnswers {
  readonly #clock: Clock;
  readonly #waiting = new Map<Call, { readonly outcome: SessionError; readonly timer: Timer }>();
  #lastAt = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(call: Call, outcome: SessionError): void {
    const now = this.#clock.now();
    const nextAt = Math.max(now + PAUSE_MS, this.#lastAt + APART_MS);
    // A pause that would grow too long starts over at the shortest one.
    this.#lastAt = nextAt <= now + LONGEST_MS ? nextAt : now + PAUSE_MS;
    const timer = this.#clock.setTimer(this.#lastAt - now, () => {
      this.#waiting.delete(call);
      call.settle(outcome);
    });
    this.#waiting.set(call, { outcome, timer });
  }

  /** The connection is over: requests that follow go to another server, and later. */
  settleAll(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [call, { outcome, timer }] of waiting) {
      timer.cancel();
      call.settle(outcome);
    }
  }
}
