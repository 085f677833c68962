import { filter, firstValueFrom, Subject, takeUntil } from 'rxjs';
import { LockClosedError, LockConfigurationError, LockUnavailableError } from '../lock/errors.js';
import { isUp } from './connection-state.js';
import { describeDenial, failedWith, isAboutTheLink, SessionError, type SessionErrorCode } from './errors.js';
import { get, type NodeData, type Outcome, type ReplyTo, type Request, sync } from './requests.js';
import type { Session } from './session.js';

/** One call over a session that may go down and come back, until its time is up. */
export class PatientLink {
  readonly #endsAt: number;
  /** A write was sent, and its answer was lost, or is still to come. */
  isInDoubt = false;

  /** @param path of the data, as errors call it */
  constructor(
    readonly session: Session,
    readonly path: string,
    private readonly waitMs: number,
  ) {
    this.#endsAt = session.clock.now() + waitMs;
  }

  get remainingMs(): number {
    return this.#endsAt - this.session.clock.now();
  }

  /** @throws LockUnavailableError when the time is up, LockClosedError when the service is closed */
  async untilUp(): Promise<void> {
    const { clock, state, state$ } = this.session;
    const { remainingMs } = this;
    if (remainingMs <= 0) throw this.#unavailable();
    if (isUp(state)) return;
    const timeIsUp = new Subject<void>();
    const timer = clock.setTimer(remainingMs, () => timeIsUp.next());
    try {
      // `state$` completes without a value when the session is closed.
      const found = await firstValueFrom(state$.pipe(filter(isUp), takeUntil(timeIsUp)), { defaultValue: undefined });
      if (found !== undefined) return;
    } finally {
      timer.cancel();
    }
    throw this.session.state === 'closed' ? this.closed() : this.#unavailable();
  }

  /**
   * Sends, and waits for the answers until the time is up: a link that has gone silent is up until the session knows better.
   * @throws LockUnavailableError when the time is up
   */
  async send<const R extends readonly Request[]>(
    requests: R,
    kind: 'look' | 'write',
  ): Promise<{ [I in keyof R]: Outcome<R[I]> }> {
    const outcomes = await this.#within(this.remainingMs, this.session.batch(requests));
    if (outcomes !== undefined) return outcomes;
    // The write is on its way, and may be carried out after this call has ended.
    this.isInDoubt ||= kind === 'write';
    throw this.#unavailable();
  }

  /**
   * Sends what does no harm when it is sent again, until there is an answer.
   * @returns the answers; undefined in place of each that is an error with the expected code
   * @throws the error for an answer that another try does not change
   */
  async ask<const R extends readonly Request[]>(
    requests: R,
    expected?: SessionErrorCode,
  ): Promise<{ [I in keyof R]: ReplyTo<R[I]> | undefined }> {
    const isExpected = (outcome: unknown): boolean => expected !== undefined && failedWith(outcome, expected);
    for (;;) {
      await this.untilUp();
      const outcomes: readonly unknown[] = await this.send(requests, 'look');
      const error = outcomes.find((outcome) => outcome instanceof SessionError && !isExpected(outcome));
      if (error === undefined) {
        const answers = outcomes.map((outcome) => (isExpected(outcome) ? undefined : outcome));
        return answers as { [I in keyof R]: ReplyTo<R[I]> | undefined };
      }
      if (failedWith(error, 'CLOSED')) throw this.closed();
      if (!isAboutTheLink(error as SessionError)) throw refusal(error, this.path);
    }
  }

  /** Reads what the leader has; undefined where there is no such node. */
  async read(path: string): Promise<NodeData | undefined> {
    // The server of this session may be behind the leader: the sync makes it catch up before it reads.
    const [, found] = await this.ask([sync(path), get(path)], 'NO_NODE');
    return found;
  }

  /** Resolves when something has happened to a node, or its link or session, or the time is up. */
  async untilChanged(path: string, withinMs: number): Promise<void> {
    let end: () => void = () => undefined;
    const changed = new Promise<void>((resolve) => (end = resolve));
    const watcher = { onWatchEvent: end };
    try {
      const [found] = await this.send([get(path, watcher)], 'look');
      if (!(found instanceof SessionError)) await this.#within(Math.min(withinMs, this.remainingMs), changed);
    } finally {
      this.session.unwatch(path, watcher);
    }
  }

  closed(): Error {
    return this.session.failure ?? new LockClosedError(`The lock service is closed. ${this.#whatIsKnown()}`);
  }

  /** Waits, and resolves with undefined where that takes longer. */
  async #within<T>(waitMs: number, waiting: Promise<T>): Promise<T | undefined> {
    let end: () => void = () => undefined;
    const timeIsUp = new Promise<undefined>((resolve) => (end = () => resolve(undefined)));
    const timer = this.session.clock.setTimer(Math.max(0, waitMs), end);
    try {
      return await Promise.race([waiting, timeIsUp]);
    } finally {
      timer.cancel();
    }
  }

  #unavailable(): LockUnavailableError {
    return new LockUnavailableError(`ZooKeeper did not answer within ${this.waitMs} ms. ${this.#whatIsKnown()}`);
  }

  #whatIsKnown(): string {
    return this.isInDoubt
      ? `The answer to the write of ${this.path} did not come: it may or may not have been carried out. Read it again`
      : `Nothing was done to ${this.path}`;
  }
}

/** The error for an answer that another try does not change. What is no answer of the servers comes out as it is. */
export function refusal(error: unknown, path: string): unknown {
  if (!(error instanceof SessionError)) return error;
  const cause = { cause: error };
  switch (error.code) {
    case 'NO_AUTH':
    case 'AUTH_FAILED':
    case 'INVALID_ACL':
      return new LockConfigurationError(describeDenial(error, path), path, cause);
    case 'NO_CHILDREN_FOR_EPHEMERALS':
      return new LockConfigurationError(
        `A part of ${path} is an ephemeral node, which cannot have children`,
        path,
        cause,
      );
    case 'NOT_EMPTY':
      return new LockConfigurationError(`${path} has children: remove them first`, path, cause);
    case 'QUOTA_EXCEEDED':
    case 'TOO_LARGE':
    case 'BAD_ARGUMENTS':
    case 'UNIMPLEMENTED':
      return new LockConfigurationError(`ZooKeeper cannot keep ${path}: ${error.message}`, path, cause);
    default:
      return new LockUnavailableError(`ZooKeeper refused ${path}: ${error.message}`, path, cause);
  }
}
