import { LockClosedError } from '../lock/errors.js';
import { type ConnectionState, isUp } from '../session/connection-state.js';
import type { Session } from '../session/session.js';

/** The one subscription to the session's state: tells whoever waits for the link, and whoever must look again. */
export class Uplink {
  readonly #session: Session;
  readonly #listeners = new Set<(state: ConnectionState) => void>();
  #whenUp: Promise<void> | undefined;

  constructor(session: Session) {
    this.#session = session;
    session.state$.subscribe((state) => {
      for (const listener of [...this.#listeners]) listener(state);
    });
  }

  get isUp(): boolean {
    return isUp(this.#session.state) && !this.#session.isClosing;
  }

  /** @returns how to stop listening */
  onChange(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves when the link is up, at once if it is; shared by all who wait. Rejects when the session is closed. */
  whenUp(): Promise<void> {
    if (this.isUp) return Promise.resolve();
    // Its state follows when it is closed: who looks again until then would look for ever, and keep it from closing.
    if (this.#session.isClosing) return Promise.reject(this.closedError());
    this.#whenUp ??= new Promise<void>((resolve, reject) => {
      const look = (state: ConnectionState): void => {
        if (isUp(state)) resolve();
        else if (state === 'closed') reject(this.closedError());
        else return;
        this.#whenUp = undefined;
        stop();
      };
      const stop = this.onChange(look);
      look(this.#session.state);
    });
    return this.#whenUp;
  }

  closedError(): Error {
    return this.#session.failure ?? new LockClosedError('The lock service is closed');
  }
}
