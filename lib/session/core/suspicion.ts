import { closed, closeSession } from './abandoned-session.js';
import type { Connection } from './connection.js';

/**
 * Finds out whether a refusal is the server's fault or the session's. A session opened on the side tells: a server that
 * opens one does serve. The old session is then offered to it once more, because it may have begun to serve only just
 * now.
 */
export class Suspicion {
  readonly #tickMs: number;
  #state: 'none' | 'probing' | 'server serves others' = 'none';
  #probe: Connection | undefined;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  /** Whether the connection under way, or the next one, opens a session on the side. */
  get isProbing(): boolean {
    return this.#state === 'probing';
  }

  isProbe(connection: Connection): boolean {
    return connection === this.#probe;
  }

  /** @returns whether the server has shown that it serves others, and so refuses only this session */
  refused(): boolean {
    if (this.#state === 'server serves others') return true;
    this.#state = 'probing';
    return false;
  }

  /** The server opened a session on the side. It is closed at once, and then `next` is called. */
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
