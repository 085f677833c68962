import { filter, firstValueFrom, Subject, takeUntil } from 'rxjs';
import { LockClosedError, LockUnavailableError } from '../../lock/errors.js';
import { isUp } from '../../session/connection-state.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { get, type NodeData, type Outcome, type Request, sync } from '../../session/requests.js';
import type { Session } from '../../session/session.js';

/** One call over a session that may go down and come back, until its time is up. */
export class Link {
  readonly session: Session;
  readonly #path: string;
  readonly #waitMs: number;
  readonly #endsAt: number;
  /** A write was sent, and its answer was lost, or is still to come. */
  isInDoubt = false;

  constructor(session: Session, path: string, waitMs: number) {
    this.session = session;
    this.#path = path;
    this.#waitMs = waitMs;
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
    const { clock } = this.session;
    let end: () => void = () => undefined;
    const timeIsUp = new Promise<undefined>((resolve) => (end = () => resolve(undefined)));
    const timer = clock.setTimer(Math.max(0, this.remainingMs), end);
    try {
      const outcomes = await Promise.race([this.session.batch(requests), timeIsUp]);
      if (outcomes !== undefined) return outcomes;
    } finally {
      timer.cancel();
    }
    // The write is on its way, and may be carried out after this call has ended.
    this.isInDoubt ||= kind === 'write';
    throw this.#unavailable();
  }

  /** Reads what the leader has; undefined where there is no such node. */
  async read(path: string): Promise<NodeData | undefined> {
    for (;;) {
      await this.untilUp();
      // The server of this session may be behind the leader: the sync makes it catch up before it reads.
      const [synced, found] = await this.send([sync(path), get(path)], 'look');
      const error = synced instanceof SessionError ? synced : found;
      if (!(error instanceof SessionError)) return error;
      if (error.code === 'NO_NODE') return undefined;
      if (error.code === 'CLOSED') throw this.closed();
      if (!isAboutTheLink(error)) throw error;
    }
  }

  /** Resolves when something has happened to a node, or its link or session, or the time is up. */
  async untilChanged(path: string, withinMs: number): Promise<void> {
    const { clock } = this.session;
    let end: () => void = () => undefined;
    const changed = new Promise<void>((resolve) => (end = resolve));
    const timer = clock.setTimer(Math.max(0, Math.min(withinMs, this.remainingMs)), end);
    const watcher = { onWatchEvent: end };
    try {
      const [found] = await this.send([get(path, watcher)], 'look');
      if (!(found instanceof SessionError)) await changed;
    } finally {
      timer.cancel();
      this.session.unwatch(path, watcher);
    }
  }

  closed(): Error {
    return this.session.failure ?? new LockClosedError(`The lock service is closed. ${this.#whatIsKnown()}`);
  }

  #unavailable(): LockUnavailableError {
    return new LockUnavailableError(`ZooKeeper did not answer within ${this.#waitMs} ms. ${this.#whatIsKnown()}`);
  }

  #whatIsKnown(): string {
    return this.isInDoubt
      ? `The answer to the write of ${this.#path} did not come: it may or may not have been carried out. Read it again`
      : `Nothing was done to ${this.#path}`;
  }
}
