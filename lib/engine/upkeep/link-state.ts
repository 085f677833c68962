import { LockClosedError } from '../../lock/errors.js';
import { type ConnectionState, isUp } from '../../session/connection-state.js';
import type { Session } from '../../session/session.js';
import type { Wait } from '../wait.js';

/**
 * Who hears of a change of the link, in this order: what was left behind is removed before anybody looks again, a loss is
 * told before those that wait take their next step, and all of that before calls that only wait for the link.
 */
const HEARD_IN_ORDER = ['leftovers', 'holders', 'contenders', 'calls'] as const;
type Hearer = (typeof HEARD_IN_ORDER)[number];
type Listener = (state: ConnectionState) => void;

/** The one subscription to the session's state: tells whoever waits for the link, and whoever must look again. */
export class LinkState {
  readonly #session: Session;
  readonly #listeners: Readonly<Record<Hearer, Set<Listener>>> = {
    leftovers: new Set(),
    holders: new Set(),
    contenders: new Set(),
    calls: new Set(),
  };
  readonly #openedAt: number;
  #downSince: number | undefined;
  #hasBeenUp = false;

  constructor(session: Session) {
    this.#session = session;
    this.#openedAt = session.clock.now();
    session.state$.subscribe((state) => {
      this.#hasBeenUp ||= isUp(state);
      this.#downSince = isUp(state) ? undefined : (this.#downSince ?? session.clock.now());
      for (const hearer of HEARD_IN_ORDER) for (const listener of [...this.#listeners[hearer]]) listener(state);
    });
  }

  get state(): ConnectionState {
    return this.#session.state;
  }

  get isUp(): boolean {
    return isUp(this.#session.state) && !this.#session.isClosing;
  }

  /** 0 while the link is up. */
  get downMs(): number {
    return this.#downSince === undefined ? 0 : this.#session.clock.now() - this.#downSince;
  }

  /** For how long from now on the first connection may still be waited for; 0 where it has been there, or never came. */
  firstConnectionMs(withinMs: number): number {
    return this.#hasBeenUp ? 0 : Math.max(0, this.#openedAt + withinMs - this.#session.clock.now());
  }

  describeFailures(): string {
    return this.#session.describeFailures();
  }

  /** @returns how to stop listening */
  onChange(hearer: Hearer, listener: Listener): () => void {
    const listeners = this.#listeners[hearer];
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /**
   * Resolves when the link is up, at once if it is. Rejects when the wait is ended, or the session is closed. There is no
   * promise that all who wait share: while the link is down, each that gave up would stay among its reactions.
   */
  async whenUp(wait: Wait): Promise<void> {
    if (wait.error !== undefined) throw wait.error;
    if (this.isUp) return;
    let stopListening: (() => void) | undefined;
    const up = new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (this.isUp) resolve();
        else if (this.isClosed) reject(this.closedError());
      };
      stopListening = this.onChange('calls', look);
      look();
    });
    try {
      await wait.guard(up);
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
      const stopListening = this.onChange('calls', (state) => {
        if (!isUp(state)) end();
      });
      void answer.then(end);
    });
  }

  /** Resolves when the link comes, goes or is given up. */
  nextChange(): Promise<void> {
    return new Promise((resolve) => {
      const stopListening = this.onChange('calls', () => {
        stopListening();
        resolve();
      });
    });
  }

  /** Its state follows while it is being closed: who looks again until then would look for ever, and keep it from closing. */
  get isClosed(): boolean {
    return this.#session.state === 'closed' || this.#session.isClosing;
  }

  closedError(): Error {
    return this.#session.failure ?? new LockClosedError('The lock service is closed');
  }
}
