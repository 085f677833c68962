import { performance } from 'node:perf_hooks';

const LOOK_EVERY_MS = 10;
/** What timers are late by on any busy machine is no stall: bounds have slack for that. */
const NOTICED_MS = 25;

let watching = 0;
let timer: NodeJS.Timeout | undefined;
let lookedAt = 0;
let seen: { readonly endedAt: number; readonly durationMs: number }[] = [];

function look(): void {
  const now = performance.now();
  const lateMs = now - lookedAt - LOOK_EVERY_MS;
  if (lateMs > NOTICED_MS) seen.push({ endedAt: now, durationMs: lateMs });
  lookedAt = now;
}

/**
 * For how long this process did not get to run, since the watching began: the machine stood still, or ran others. A bound
 * on a duration becomes `bound + stalls.totalMs`, asked when the duration has been measured.
 *
 * It is seen from the event loop, so code of our own that blocks the loop counts as well. Not for tests of just that.
 */
export class Stalls implements Disposable {
  #from: number;
  #isWatching = true;

  private constructor() {
    if (watching === 0) {
      seen = [];
      lookedAt = performance.now();
      timer = setInterval(look, LOOK_EVERY_MS).unref();
    }
    watching += 1;
    look();
    this.#from = performance.now();
  }

  static watch(): Stalls {
    return new Stalls();
  }

  get totalMs(): number {
    return this.#sumSince(this.#from);
  }

  get longestMs(): number {
    if (this.#isWatching) look();
    return Math.max(0, ...seen.filter(({ endedAt }) => endedAt > this.#from).map(({ durationMs }) => durationMs));
  }

  /** The part of it that ended in the last so many milliseconds. */
  latelyMs(withinMs: number): number {
    return this.#sumSince(Math.max(this.#from, performance.now() - withinMs));
  }

  /** Begins anew. */
  forget(): void {
    look();
    this.#from = performance.now();
  }

  [Symbol.dispose](): void {
    if (!this.#isWatching) return;
    this.#isWatching = false;
    watching -= 1;
    if (watching === 0) clearInterval(timer);
  }

  #sumSince(from: number): number {
    // The stall that has just ended was not looked at by any timer yet.
    if (this.#isWatching) look();
    return seen.reduce((sum, { endedAt, durationMs }) => (endedAt > from ? sum + durationMs : sum), 0);
  }
}
