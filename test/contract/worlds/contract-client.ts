import { isUp } from '../../../lib/session/connection-state.js';
import type { SessionClient } from '../../../lib/session/core/session-client.js';
import { SessionError } from '../../../lib/session/errors.js';
import type { Outcome, ReplyTo, Request } from '../../../lib/session/requests.js';
import type { SessionIdentity } from '../../../lib/session/session.js';
import { RecordingWatcher } from '../../support/sessions/recording-watcher.js';
import { StateLog } from '../../support/sessions/state-log.js';
import type { ClientLink, ContractWorld, Op, SentRequest } from './contract-world.js';
import { replyTo } from '../../support/sessions/reply-to.js';

/** One session of a contract test, with its network; what it is asked lets the world's time pass. */
export class ContractClient {
  readonly log: StateLog;

  constructor(
    readonly world: ContractWorld,
    readonly session: SessionClient,
    readonly link: ClientLink,
  ) {
    this.log = new StateLog(session);
  }

  get identity(): SessionIdentity {
    const { identity } = this.session;
    if (identity === undefined) throw new Error(`The session has no identity now (${this.session.state}).`);
    return identity;
  }

  get isUp(): boolean {
    return isUp(this.session.state);
  }

  get isCertain(): boolean {
    return this.session.certainUntil() > this.session.clock.now();
  }

  ask<R extends Request>(request: R): Promise<ReplyTo<R>> {
    return this.world.settle(replyTo(this.session, request));
  }

  askAll<const R extends readonly Request[]>(requests: R): Promise<{ [I in keyof R]: Outcome<R[I]> }> {
    return this.world.settle(this.session.batch(requests));
  }

  /** The error of a request that must fail. */
  async failure(request: Request): Promise<SessionError> {
    return this.failureOf(replyTo(this.session, request));
  }

  async failureOf(promise: Promise<unknown>): Promise<SessionError> {
    const outcome: unknown = await this.world.settle(promise.then(answered, (error: unknown) => error));
    if (outcome instanceof SessionError) return outcome;
    throw new Error(`A SessionError was expected, not: ${String(outcome)}`);
  }

  watcher(): RecordingWatcher {
    return new RecordingWatcher(() => this.session.clock.now());
  }

  /** Requests of this kind that were sent, about this path if one is given. */
  sent(op: Op, path?: string): readonly SentRequest[] {
    return this.link.sent().filter((request) => request.op === op && (path === undefined || request.path === path));
  }

  async whenUp(): Promise<this> {
    await this.world.until(`a session is up. ${this.session.describeFailures()}`, () => this.isUp);
    return this;
  }

  /** Waits until the link has come up once more than it had. */
  async whenUpAgain(ups: number, withinMs?: number): Promise<void> {
    await this.world.until('the link is up again', () => this.log.ups > ups && this.isUp, withinMs);
  }

  /** Waits until the state is this one, or has been since: on a busy machine the next may follow at once. */
  async whenState(state: SessionClient['state'], withinMs?: number): Promise<void> {
    const from = this.log.changes.length - 1;
    await this.world.until(`the state is ${state}`, () => this.log.first(state, from) !== undefined, withinMs);
  }

  /** Ends the connection and waits for the next. */
  async reconnect(): Promise<void> {
    const { ups } = this.log;
    this.link.cut();
    await this.whenUpAgain(ups);
  }
}

function answered(reply: unknown): string {
  return `an answer: ${JSON.stringify(reply, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))}`;
}
