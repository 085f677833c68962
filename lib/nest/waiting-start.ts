import { systemClock, type Timer } from '../lock/clock.js';

/** A person who watches a start must see that it goes on, and wants no more lines than that. */
const AGAIN_AFTER_MS = 5_000;

/** When to tell of a start that waits for ZooKeeper: once all servers were tried, and every five seconds. */
export class WaitingStart {
  readonly #endsAt: number;
  readonly #tell: (leftMs: number) => void;
  #timer: Timer;
  #hasTold = false;

  constructor(withinMs: number, tell: (leftMs: number) => void) {
    this.#endsAt = systemClock.now() + withinMs;
    this.#tell = tell;
    // Servers that neither accept nor refuse make the first round long, so the timer does not wait for its end.
    this.#timer = this.#setTimer();
  }

  roundInVain(): void {
    if (!this.#hasTold) this.#tellNow();
  }

  end(): void {
    this.#timer.cancel();
    this.#hasTold = true;
  }

  #tellNow(): void {
    this.#hasTold = true;
    this.#timer.cancel();
    this.#timer = this.#setTimer();
    this.#tell(Math.max(0, this.#endsAt - systemClock.now()));
  }

  #setTimer(): Timer {
    return systemClock.setTimer(AGAIN_AFTER_MS, () => this.#tellNow());
  }
}
