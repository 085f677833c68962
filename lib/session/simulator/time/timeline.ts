import type { Timer } from '../../../lock/clock.js';
import type { SeededRandom } from './random.js';

/** The time that an ensemble lives in: virtual time under a test's control, or the machine's own. */
export interface Timeline {
  /** Monotonic milliseconds. */
  now(): number;
  /** Milliseconds since 1970, for `ctime` and `mtime`. */
  wallNow(): number;
  after(delayMs: number, run: () => void): Timer;
  /**
   * Decides the order of what happens at one instant, how frames fall into segments and the order of names in a list.
   * Undefined where everything happens in the order in which it was asked for.
   */
  readonly chance: SeededRandom | undefined;
  /** See `Clock`. Undefined where no timer is the machine's. */
  readonly keepAwake?: (() => Timer) | undefined;
  /** Notes that code outside the simulator was called: its promises must get their turn before the next event. */
  noteOutsideCall(): void;
}
