import type { Clock, Timer } from '../../lock/clock.js';
import { closed, closeSession } from './abandoned-session.js';
import type { Connection } from './connection.js';

/**
 * Tells when the link has been down for so long that the session is given up for lost. From then on it also finds out
 * whether a refusal is the server's fault or the session's. A session opened on the side tells: a server that opens one
 * does serve. The old session is then offered to it once more, because it may have begun to serve only just now.
 */
export class OutOfTouch {
  readonly #clock: Clock;
  readonly #tickMs: number;
  readonly #onOut: () => void;
  #timer: Timer | undefined;
  #isOut = false;
  #refusal: 'unexplained' | 'probing' | 'server serves others' = 'unexplained';
  #probe: Connection | undefined;

  constructor(clock: Clock, tickMs: number, onOut: () => void) {
    this.#clock = clock;
    this.#tickMs = tickMs;
    this.#onOut = onOut;
  }

  get isOut(): boolean {
    return this.#isOut;
  }

  /** Whether the connection under way, or the next one, opens a session on the side. */
  get isProbing(): boolean {
    return this.#refusal === 'probing';
  }

  isProbe(connection: Connection): boolean {
    return connection === this.#probe;
  }

  /** The link is down, and has this long to come back. */
  after(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(Math.max(0, delayMs), () => {
      this.#isOut = true;
      this.#onOut();
    });
  }

  /** @returns whether the server has shown that it serves others, and so refuses only this session */
  refused(): boolean {
    if (this.#refusal === 'server serves others') return true;
    this.#refusal = 'probing';
    return false;
  }

  /** The server opened a session on the side. It is closed at once, and then `next` is called. */
  opened(probe: Connection, timeoutMs: number, next: () => void): void {
    this.#refusal = 'server serves others';
    this.#probe = probe;
    probe.startLiveness(timeoutMs, this.#tickMs);
    void closeSession(probe).then(() => {
      probe.destroy(closed);
      next();
    });
  }

  /** The last attempt says nothing about the session. */
  forgetRefusals(): void {
    this.#refusal = 'unexplained';
  }

  /** The link is up again, or nobody waits for it any more. */
  end(): void {
    this.#timer?.cancel();
    this.#isOut = false;
    this.forgetRefusals();
  }
}
