import type { Clock, Timer } from '../../lock/clock.js';
import type { SessionError } from '../errors.js';
import type { Call } from './call.js';

const PAUSE_MS = 200;
/** Those who were answered together do not ask again together. */
const APART_MS = 2;
/** Nor does one wait for all the others: it may be a heartbeat, for which locks wait. Those beyond share the same instants. */
const LONGEST_MS = 2 * PAUSE_MS;

/**
 * Keeps back the answer of a server that is too busy. Whoever gets it asks again, and would do so at once, over and over:
 * this is the one place that all of them pass.
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
    this.#lastAt = nextAt <= now + LONGEST_MS ? nextAt : now + PAUSE_MS;
    const timer = this.#clock.setTimer(this.#lastAt - now, () => {
      this.#waiting.delete(call);
      call.settle(outcome);
    });
    this.#waiting.set(call, { outcome, timer });
  }

  /** The connection is over: what comes next goes elsewhere, and later. */
  settleAll(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [call, { outcome, timer }] of waiting) {
      timer.cancel();
      call.settle(outcome);
    }
  }
}
