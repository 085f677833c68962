import type { Session } from '../../session/session.js';
import type { Timers } from '../timers.js';

/** A kernel that has no room for so long is that of a process whose server has stopped reading. */
const LEAVES_WITHIN_MS = 100;

/**
 * Lets what was sent leave the process before a caller goes on, who may end the process at its next statement. A removal
 * that still waits for the end of the turn would die with it, and the node would stay for as long as its session.
 */
export class Outbox {
  readonly #session: Session;
  readonly #timers: Timers;
  #emptied: Promise<void> | undefined;

  constructor(session: Session, timers: Timers) {
    this.#session = session;
    this.#timers = timers;
  }

  /**
   * Resolves when the kernel has it, or takes nothing now. The answers of many locks come together: all whose promises go on
   * in the same step share one write. No timer makes it wait for that, so none that is faked can keep it.
   */
  emptied(): Promise<void> {
    this.#emptied ??= Promise.resolve().then(() => {
      this.#emptied = undefined;
      const leaving = this.#session.flush();
      return leaving === undefined ? undefined : this.#timers.atMost(LEAVES_WITHIN_MS, leaving);
    });
    return this.#emptied;
  }
}
