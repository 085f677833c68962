import { type ConnectionState, isUp } from '../../../lib/session/connection-state.js';
import type { Session, SessionIdentity } from '../../../lib/session/session.js';

export interface StateChange {
  readonly state: ConnectionState;
  readonly at: number;
  readonly identity: SessionIdentity | undefined;
  readonly certainUntil: number;
}

/** What a session said about itself, with its figures at that very moment. */
export class StateLog {
  readonly changes: StateChange[] = [];
  completed = false;

  constructor(session: Session) {
    session.state$.subscribe({
      next: (state) => {
        const identity = session.identity === undefined ? undefined : { ...session.identity };
        this.changes.push({ state, at: session.clock.now(), identity, certainUntil: session.certainUntil() });
      },
      complete: () => (this.completed = true),
    });
  }

  get states(): ConnectionState[] {
    return this.changes.map(({ state }) => state);
  }

  /** How many times a link came up. */
  get ups(): number {
    return this.changes.filter(({ state }) => isUp(state)).length;
  }

  /** The first change to this state, from the n-th change on. */
  first(state: ConnectionState, from = 0): StateChange | undefined {
    return this.changes.slice(from).find((change) => change.state === state);
  }
}
