import { closed, closeSession } from './abandoned-session.js';
import type { Connection } from './connection.js';

/**
 * Whether our session, and not the server, is the reason for a refusal. A session opened on the side tells: a server that
 * opens one does serve. Ours is offered to it once more then, in case it had only just begun to.
 */
export class Suspicion {
  readonly #tickMs: number;
  #state: 'none' | 'probing' | 'server serves others' = 'none';
  #probe: Connection | undefined;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  /** The next connection, or the one that is under way, is to open a session on the side. */
  get isProbing(): boolean {
    return this.#state === 'probing';
  }

  isProbe(connection: Connection): boolean {
    return connection === this.#probe;
  }

  /** @returns whether the server has shown that it serves others, and so refuses only us */
  refused(): boolean {
    if (this.#state === 'server serves others') return true;
    this.#state = 'probing';
    return false;
  }

  /** The server has opened a session on the side, which is ended at once; then comes `next`. */
  opened(probe: Connection, timeoutMs: number, next: () => void): void {
    this.#state = 'server serves others';
    this.#probe = probe;
    probe.startLiveness(timeoutMs, this.#tickMs);
    void closeSession(probe).then(() => {
      probe.destroy(closed);
      next();
    });
  }

  clear(): void {
    this.#state = 'none';
  }
}
