import { LockClosedError } from '../../lock/errors.js';
import { type ConnectionState, isUp } from '../../session/connection-state.js';
import type { Session } from '../../session/session.js';
import type { Interrupt } from '../bounds/interrupt.js';

/** The one subscription to the session's state: tells whoever waits for the link, and whoever must look again. */
export class Uplink {
  readonly #session: Session;
  readonly #listeners = new Set<(state: ConnectionState) => void>();

  readonly #openedAt: number;
  #downSince: number | undefined;
  #hasBeenUp = false;

  constructor(session: Session) {
    this.#session = session;
    this.#openedAt = session.clock.now();
    session.state$.subscribe((state) => {
      this.#hasBeenUp ||= isUp(state);
      this.#downSince = isUp(state) ? undefined : (this.#downSince ?? session.clock.now());
      for (const listener of [...this.#listeners]) listener(state);
    });
  }

  get isUp(): boolean {
    return isUp(this.#session.state) && !this.#session.isClosing;
  }

  /** For how long from now on the first connection may still be waited for; 0 where it has been there, or never came. */
  firstConnectionMs(withinMs: number): number {
    return this.#hasBeenUp ? 0 : Math.max(0, this.#openedAt + withinMs - this.#session.clock.now());
  }

  /** 0 while the link is up. */
  get downMs(): number {
    return this.#downSince === undefined ? 0 : this.#session.clock.now() - this.#downSince;
  }

  /** @returns how to stop listening */
  onChange(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Resolves when the link is up, at once if it is. Rejects when the wait is interrupted, or the session is closed. There is
   * no promise that all who wait share: while the link is down, each that gave up would stay among its reactions.
   */
  async whenUp(interrupt: Interrupt): Promise<void> {
    if (interrupt.error !== undefined) throw interrupt.error;
    if (this.isUp) return;
    let stopListening: (() => void) | undefined;
    const up = new Promise<void>((resolve, reject) => {
      const look = (state: ConnectionState): void => {
        if (this.isUp) resolve();
        // Its state follows when it is closed: who looks again until then would look for ever, and keep it from closing.
        else if (state === 'closed' || this.#session.isClosing) reject(this.closedError());
      };
      stopListening = this.onChange(look);
      look(this.#session.state);
    });
    try {
      await interrupt.guard(up);
    } finally {
      stopListening?.();
    }
  }

  /**
   * Resolves when the promise does, or as soon as the link is down, at once if it is: an answer that makes no difference to
   * whoever asked for it is not waited for until there is a link again.
   */
  whileUp(answer: Promise<void>): Promise<void> {
    if (!this.isUp) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        stopListening();
        resolve();
      };
      const stopListening = this.onChange((state) => {
        if (!isUp(state)) end();
      });
      void answer.then(end);
    });
  }

  /** Resolves when the link comes, goes or is given up. */
  nextChange(): Promise<void> {
    return new Promise((resolve) => {
      const stopListening = this.onChange(() => {
        stopListening();
        resolve();
      });
    });
  }

  closedError(): Error {
    return this.#session.failure ?? new LockClosedError('The lock service is closed');
  }
}
