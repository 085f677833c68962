import { BehaviorSubject, Subject } from 'rxjs';
import type { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { SessionError, type SessionErrorCode } from '../../../../lib/session/errors.js';
import type { ConnectionState } from '../../../../lib/session/connection-state.js';
import type { Reply, Request } from '../../../../lib/session/requests.js';
import type { Session, SessionIdentity } from '../../../../lib/session/session.js';
import { ManualClock } from '../../support/manual-clock.js';

/** A session whose answers are the test's own: what a server says that the simulator never does. */
export class ScriptedSession {
  readonly clock = new ManualClock();
  readonly state$ = new BehaviorSubject<ConnectionState>('connected');
  readonly certaintyLowered$ = new Subject<void>();
  identity: SessionIdentity = { id: 1n, timeoutMs: 4_000 };
  isClosing = false;
  failure: LockConfigurationError | undefined;
  readonly sent: Request[] = [];
  unwatched = 0;
  /** How many requests had been sent when it was last told to let them leave. */
  flushed = 0;
  /** What resolves when they have left. */
  leaving: Promise<void> | undefined;
  certainUntilMs = 0;
  certainSinceMs = 0;
  lastProofAt: number | undefined;
  stalledMs = 0;
  proveLife: () => Promise<void> = async () => undefined;
  answer: (request: Request) => Reply | SessionErrorCode = () => undefined;

  readonly hasMultis = true;

  get state(): ConnectionState {
    return this.state$.value;
  }

  /** As the port wants it; what is not scripted is not there. */
  get asSession(): Session {
    return this as unknown as Session;
  }

  describeFailures(): string {
    return '';
  }

  certainUntil(): number {
    return this.certainUntilMs;
  }

  certainSince(): number {
    return this.certainSinceMs;
  }

  keepCertain(): () => void {
    return () => undefined;
  }

  flush(): Promise<void> | undefined {
    this.flushed = this.sent.length;
    return this.leaving;
  }

  unwatch(): void {
    this.unwatched += 1;
  }

  async request(code: SessionErrorCode): Promise<never> {
    throw new SessionError(code, `scripted ${code}`);
  }

  async batch(requests: readonly Request[]): Promise<(Reply | SessionError)[]> {
    return requests.map((request) => {
      this.sent.push(request);
      const reply = this.answer(request);
      return typeof reply === 'string' ? new SessionError(reply, `scripted ${reply}`) : reply;
    });
  }
}
