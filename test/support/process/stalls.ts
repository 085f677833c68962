import { performance } from 'node:perf_hooks';

const LOOK_EVERY_MS = 10;
/** What timers are late by on any busy machine is no stall: bounds have slack for that. */
const NOTICED_MS = 25;

let watching = 0;
let timer: NodeJS.Timeout | undefined;
let lookedAt = 0;
let stoodStillMs = 0;

function look(): void {
  const now = performance.now();
  const lateMs = now - lookedAt - LOOK_EVERY_MS;
  if (lateMs > NOTICED_MS) stoodStillMs += lateMs;
  lookedAt = now;
}

/**
 * For how long this process did not get to run, since the watching began: the machine stood still, or ran others. A bound
 * on a duration becomes `bound + stalls.totalMs`, asked when the duration has been measured.
 *
 * It is seen from the event loop, so code of our own that blocks the loop counts as well. Not for tests of just that.
 */
export class Stalls implements Disposable {
  #before: number;
  #isWatching = true;

  private constructor() {
    if (watching === 0) {
      lookedAt = performance.now();
      timer = setInterval(look, LOOK_EVERY_MS).unref();
    }
    watching += 1;
    look();
    this.#before = stoodStillMs;
  }

  static watch(): Stalls {
    return new Stalls();
  }

  get totalMs(): number {
    // The stall that has just ended was not looked at by any timer yet.
    if (this.#isWatching) look();
    return stoodStillMs - this.#before;
  }

  /** Begins anew. */
  forget(): void {
    this.#before += this.totalMs;
  }

  [Symbol.dispose](): void {
    if (!this.#isWatching) return;
    this.#isWatching = false;
    watching -= 1;
    if (watching === 0) clearInterval(timer);
  }
}
