import { LockClosedError } from '../../lock/errors.js';
import { type ConnectionState, isUp } from '../../session/connection-state.js';
import type { Session } from '../../session/session.js';
import type { Wait } from '../wait.js';

/**
 * The listeners to the link, in the order in which they hear of a change. Leftovers are removed before anybody reads a queue
 * again. Holders lose their locks before contenders take their next step. Calls that only wait for the link come last.
 */
const HEARD_IN_ORDER = ['leftovers', 'holders', 'contenders', 'calls'] as const;
type Hearer = (typeof HEARD_IN_ORDER)[number];
type Listener = (state: ConnectionState) => void;

/** The state of the link to ZooKeeper. Its one subscription to the session calls all listeners in their order. */
export class LinkState {
  readonly #listeners: Readonly<Record<Hearer, Set<Listener>>> = {
    leftovers: new Set(),
    holders: new Set(),
    contenders: new Set(),
    calls: new Set(),
  };
  readonly #openedAt: number;
  #downSince: number | undefined;
  #hasBeenUp = false;

  constructor(private readonly session: Session) {
    this.#openedAt = session.clock.now();
    session.state$.subscribe((state) => {
      this.#hasBeenUp ||= isUp(state);
      this.#downSince = isUp(state) ? undefined : (this.#downSince ?? session.clock.now());
      for (const hearer of HEARD_IN_ORDER) for (const listener of [...this.#listeners[hearer]]) listener(state);
    });
  }

  get state(): ConnectionState {
    return this.session.state;
  }

  get isUp(): boolean {
    return isUp(this.session.state) && !this.session.isClosing;
  }

  /** For how long the link has been down; 0 while it is up. */
  get downMs(): number {
    return this.#downSince === undefined ? 0 : this.session.clock.now() - this.#downSince;
  }

  /** How much longer a call may wait for the first connection; 0 once there has been one, or `withinMs` have passed. */
  firstConnectionMs(withinMs: number): number {
    return this.#hasBeenUp ? 0 : Math.max(0, this.#openedAt + withinMs - this.session.clock.now());
  }

  describeFailures(): string {
    return this.session.describeFailures();
  }

  /** @returns how to stop listening */
  onChange(hearer: Hearer, listener: Listener): () => void {
    const listeners = this.#listeners[hearer];
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Resolves when the link is up. Rejects when the wait is ended, or the session is closed. */
  async whenUp(wait: Wait): Promise<void> {
    if (wait.error !== undefined) throw wait.error;
    if (this.isUp) return;
    let stopListening: (() => void) | undefined;
    // Each wait has a promise of its own. A shared one would keep every wait that gave up, for as long as the link is down.
    const up = new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (this.isUp) resolve();
        else if (this.isClosed) reject(this.closedError());
      };
      stopListening = this.onChange('calls', look);
      // A session that is closed already announces no further change.
      look();
    });
    try {
      await wait.guard(up);
    } finally {
      stopListening?.();
    }
  }

  /** Resolves at the next change of the link's state. */
  nextChange(): Promise<void> {
    return new Promise((resolve) => {
      const stopListening = this.onChange('calls', () => {
        stopListening();
        resolve();
      });
    });
  }

  get isClosed(): boolean {
    // A session that is being closed still has its old state. Loops that wait for a link must end now, or they would keep
    // the session from closing.
    return this.session.state === 'closed' || this.session.isClosing;
  }

  closedError(): Error {
    return this.session.failure ?? new LockClosedError('The lock service is closed');
  }
}
