import { performance } from 'node:perf_hooks';
import { clearImmediate, setImmediate, setTimeout } from 'node:timers';
import { restingClock, type Timer } from '../../../lock/clock.js';
import { outsideCalls } from '../../../lock/outside-calls.js';
import type { Timeline } from './timeline.js';

/** How often `run` asks whether it is done. */
const POLL_MS = 2;

/**
 * The machine's own time, even where a test has replaced the global timers by fake ones. No timer here keeps the
 * process alive: an embedded ensemble must not, and a caller that waits for a lock keeps the process alive by itself.
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
    if (delayMs > 0) return restingClock.setTimer(delayMs, run);
    return outsideCalls(() => {
      // The immediate is not unreferenced: an unreferenced one does not wake an event loop that has nothing else to do.
      const immediate = setImmediate(run);
      return { cancel: () => clearImmediate(immediate) };
    });
  }

  readonly keepAwake = restingClock.keepAwake;

  /** Waits until `done` holds or `limitAt` is reached. @returns whether `done` holds */
  async run(done: () => boolean, limitAt: number): Promise<boolean> {
    while (!done()) {
      if (this.now() >= limitAt) return false;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return true;
  }

  noteOutsideCall(): void {
    // The event loop itself gives promises their turn.
  }
}
