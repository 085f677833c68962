import { type Observable, Subject } from 'rxjs';
import type { Clock } from '../../lock/clock.js';
import { certaintyMarginMs } from '../certainty.js';
import { SessionError } from '../errors.js';
import type { SessionSettings } from '../options.js';
import type { Reply, Request } from '../requests.js';
import type { Connection } from './connection.js';
import { Heartbeat } from './heartbeat.js';
import type { Proof } from './link.js';
import { type Passage, ProofOfLife } from './proof-of-life.js';

/** How long the session is certain to live, what proved it, and the heartbeats that keep proving it. */
export class SessionLife {
  readonly #clock: Clock;
  readonly #tickMs: number;
  readonly #heartbeat: Heartbeat;
  readonly #lowered = new Subject<void>();
  /** Emits when `certainUntil` may have gone back. */
  readonly lowered$: Observable<void> = this.#lowered.asObservable();
  /** Undefined while there is no session. */
  #proof: ProofOfLife | undefined;
  #lastProofAt: number | undefined;

  constructor(settings: SessionSettings, batch: (requests: Request[]) => Promise<(Reply | SessionError)[]>) {
    this.#clock = settings.clock;
    this.#tickMs = settings.serverTickMs;
    this.#heartbeat = new Heartbeat(settings.clock, settings.namespace, batch);
  }

  get certainUntil(): number {
    return this.#proof?.certainUntil ?? -Infinity;
  }

  get certainSince(): number {
    return this.#proof?.certainSince ?? Infinity;
  }

  get lastProofAt(): number | undefined {
    return this.#lastProofAt;
  }

  /** The servers' refusal of the last heartbeat; undefined where they accepted it. */
  get refusal(): SessionError | undefined {
    return this.#heartbeat.refusal;
  }

  /** The instant until which held locks are certain; undefined when nothing is held. */
  get heldUntil(): number | undefined {
    return this.#heartbeat.isNeeded ? this.certainUntil : undefined;
  }

  keepCertain(): () => void {
    return this.#heartbeat.hold();
  }

  /** Resolves when the session is certain to live for more than `forMs`. The link must be up. */
  async prove(forMs: number): Promise<void> {
    const provableMs = this.#provableMs();
    if (forMs >= provableMs) {
      const text = `No write can prove ${Math.round(forMs)} ms; less than ${Math.round(provableMs)} ms can be asked for`;
      throw new SessionError('BAD_ARGUMENTS', text);
    }
    await this.#heartbeat.prove(forMs);
  }

  /** A connection was attached to a new session, or to the one before it. */
  attached({ handshakeSentAt, lastReadAt }: Connection, grantedMs: number, fresh: boolean): void {
    if (fresh) {
      this.#lastProofAt = lastReadAt;
      this.#proof = new ProofOfLife(grantedMs, this.#tickMs, handshakeSentAt);
    }
    this.#proof?.attached(handshakeSentAt, lastReadAt, grantedMs);
    // A re-attached server may have granted a smaller time-out.
    if (!fresh) this.#lowered.next();
  }

  offered(handshakeSentAt: number): void {
    this.#proof?.offered(handshakeSentAt);
    this.#lowered.next();
  }

  answered(call: Passage, answeredAt: number, proof: Proof): void {
    this.#proof?.answered(call.sentAt, answeredAt);
    if (proof === 'committed') this.#proof?.committed(call, this.#clock.now());
    else if (proof === 'passed') this.#proof?.passed(call, this.#clock.now());
    this.#heartbeat.answered(call.sentAt, proof);
    if (proof === 'committed') this.#lastProofAt = answeredAt;
  }

  /** Requests can be sent. */
  up(sessionId: bigint): void {
    const proof = this.#proof;
    if (proof !== undefined) this.#heartbeat.start({ proof, sessionId });
  }

  /** The link is down, but the session may live on. */
  down(error: SessionError): void {
    this.#heartbeat.stop(error);
  }

  /** The session is over, or may be at any moment. */
  end(error: SessionError): void {
    this.#proof = undefined;
    this.#heartbeat.stop(error);
  }

  /** Nothing more will be emitted. */
  complete(): void {
    this.#lowered.complete();
  }

  /** A write vouches for a sample that is a tick old, so at most this much of S can be certain. */
  #provableMs(): number {
    const timeoutMs = this.#proof?.timeoutMs ?? 0;
    return timeoutMs - certaintyMarginMs(timeoutMs) - this.#tickMs;
  }
}
