import type { Clock, Timer } from '../../lock/clock.js';

/** Knows whether there has been no link for so long that nothing is expected of the session any more. */
export class OutOfTouch {
  readonly #clock: Clock;
  readonly #onOut: () => void;
  #timer: Timer | undefined;
  #isOut = false;

  constructor(clock: Clock, onOut: () => void) {
    this.#clock = clock;
    this.#onOut = onOut;
  }

  get isOut(): boolean {
    return this.#isOut;
  }

  /** The link is down, and has so long to come back. */
  after(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(Math.max(0, delayMs), () => {
      this.#isOut = true;
      this.#onOut();
    });
  }

  /** There is a link, or nobody waits for one. */
  end(): void {
    this.#timer?.cancel();
    this.#isOut = false;
  }
}
