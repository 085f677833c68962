import type { Clock, Timer } from '../../lock/clock.js';

/** Tells when the link has been down for so long that the session is given up for lost. */
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

  /** The link is down, and has this long to come back. */
  after(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(Math.max(0, delayMs), () => {
      this.#isOut = true;
      this.#onOut();
    });
  }

  /** The link is up again, or nobody waits for it any more. */
  end(): void {
    this.#timer?.cancel();
    this.#isOut = false;
  }
}
