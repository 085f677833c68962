import type { Clock, Timer } from '../../../lib/lock/clock.js';

/** Knows how many timers are set on it and have neither fired nor been cancelled. */
export class CountingClock implements Clock {
  readonly #clock: Clock;
  pending = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    let isPending = true;
    const settle = (): boolean => {
      const was = isPending;
      if (was) this.pending -= 1;
      isPending = false;
      return was;
    };
    this.pending += 1;
    const timer = this.#clock.setTimer(delayMs, () => {
      if (settle()) callback();
    });
    return {
      cancel: () => {
        settle();
        timer.cancel();
      },
    };
  }
}
