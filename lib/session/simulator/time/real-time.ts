import { performance } from 'node:perf_hooks';
import { clearImmediate, clearTimeout, setImmediate, setTimeout } from 'node:timers';
import type { Timer } from '../../../lock/clock.js';
import { outsideCalls } from '../../../lock/outside-calls.js';
import type { Timeline } from './timeline.js';

/**
 * The machine's own time, also where a test has put fake timers in the place of the global ones. No timer here keeps the
 * process alive: an embedded ensemble must not, and who waits for a lock keeps it alive by itself.
 */
export class RealTime implements Timeline {
  readonly chance = undefined;

  now(): number {
    return performance.now();
  }

  wallNow(): number {
    return Date.now();
  }

  after(delayMs: number, run: () => void): Timer {
    return outsideCalls(() => this.#after(delayMs, run));
  }

  #after(delayMs: number, run: () => void): Timer {
    if (delayMs <= 0) {
      // Not `unref`: such an immediate does not wake an event loop that has nothing else to do.
      const immediate = setImmediate(run);
      return { cancel: () => clearImmediate(immediate) };
    }
    const timeout = setTimeout(run, delayMs).unref();
    return { cancel: () => clearTimeout(timeout) };
  }

  noteOutsideCall(): void {
    // The event loop itself gives promises their turn.
  }
}
