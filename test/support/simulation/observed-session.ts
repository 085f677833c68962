import type { Observable } from 'rxjs';
import type { LockConfigurationError } from '../../../lib/lock/errors.js';
import type { ConnectionState } from '../../../lib/session/connection-state.js';
import type { SessionError } from '../../../lib/session/errors.js';
import type { Outcome, Request, Watcher } from '../../../lib/session/requests.js';
import type { Session, SessionIdentity } from '../../../lib/session/session.js';
import type { CountingClock } from './counting-clock.js';

/** A session as the engine sees it, with a clock that counts the engine's timers, and a count of who keeps it certain. */
export class ObservedSession implements Session {
  readonly clock: CountingClock;
  /** Calls of `keepCertain` that have not let go. */
  keepers = 0;
  readonly #session: Session;

  constructor(session: Session, clock: CountingClock) {
    this.#session = session;
    this.clock = clock;
  }

  get hasMultis(): boolean {
    return this.#session.hasMultis;
  }

  get state(): ConnectionState {
    return this.#session.state;
  }

  get state$(): Observable<ConnectionState> {
    return this.#session.state$;
  }

  get identity(): SessionIdentity | undefined {
    return this.#session.identity;
  }

  get isClosing(): boolean {
    return this.#session.isClosing;
  }

  get failure(): LockConfigurationError | undefined {
    return this.#session.failure;
  }

  get lastProofAt(): number | undefined {
    return this.#session.lastProofAt;
  }

  get stalledMs(): number {
    return this.#session.stalledMs;
  }

  get heartbeatRefusal(): SessionError | undefined {
    return this.#session.heartbeatRefusal;
  }

  describeFailures(): string {
    return this.#session.describeFailures();
  }

  certainUntil(): number {
    return this.#session.certainUntil();
  }

  get certaintyLowered$(): Observable<void> {
    return this.#session.certaintyLowered$;
  }

  certainSince(): number {
    return this.#session.certainSince();
  }

  keepCertain(): () => void {
    this.keepers += 1;
    const letGo = this.#session.keepCertain();
    let holding = true;
    return () => {
      if (holding) this.keepers -= 1;
      holding = false;
      letGo();
    };
  }

  proveLife(forMs?: number): Promise<void> {
    return this.#session.proveLife(forMs);
  }

  batch<const R extends readonly Request[]>(requests: R): Promise<{ [I in keyof R]: Outcome<R[I]> }> {
    return this.#session.batch(requests);
  }

  flush(): Promise<void> | undefined {
    return this.#session.flush();
  }

  unwatch(path: string, watcher: Watcher): void {
    this.#session.unwatch(path, watcher);
  }

  close(withinMs?: number): Promise<void> {
    return this.#session.close(withinMs);
  }
}
