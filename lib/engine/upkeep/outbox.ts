import type { Session } from '../../session/session.js';
import type { Timers } from '../timers.js';

/** A kernel that has no room for this long has a server at the other end that has stopped reading. */
const LEAVES_WITHIN_MS = 100;

/**
 * Sends the requests of this turn before a caller goes on, who may end the process at its next statement. A removal that
 * still waited for the end of the turn would die with the process, and its node would stay until the session times out.
 */
export class Outbox {
  readonly #session: Session;
  readonly #timers: Timers;
  #emptied: Promise<void> | undefined;

  constructor(session: Session, timers: Timers) {
    this.#session = session;
    this.#timers = timers;
  }

  /** Resolves when the kernel has all requests, or takes none for a while. */
  emptied(): Promise<void> {
    // The answers of many locks arrive together, so all callers of this step share one write. A turn of promises delimits the
    // step, because an application's fake timers could hold up a timer.
    this.#emptied ??= Promise.resolve().then(() => {
      this.#emptied = undefined;
      const leaving = this.#session.flush();
      return leaving === undefined ? undefined : this.#timers.atMost(LEAVES_WITHIN_MS, leaving);
    });
    return this.#emptied;
  }
}
