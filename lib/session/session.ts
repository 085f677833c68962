import type { Observable } from 'rxjs';
import type { Clock } from '../lock/clock.js';
import type { LockConfigurationError } from '../lock/errors.js';
import type { ConnectionState } from './connection-state.js';
import type { SessionError } from './errors.js';
import type { Outcome, Request, Watcher } from './requests.js';

/** One session at the ensemble. After an expiry the client opens another session, with another identity object. */
export interface SessionIdentity {
  readonly id: bigint;
  /** S: the time-out that the server granted, not the one that was asked for. */
  readonly timeoutMs: number;
}

/**
 * The port: what a lock needs of ZooKeeper, and no more. `wire` and `native` speak to real servers, `simulator` is an
 * ensemble in memory, and the contract suite holds them to the same behaviour.
 *
 * Requests are sent and answered in the order of the calls, with two exceptions, which come later than their turn. A
 * list waits when two lists of the same node are under way or one was too large (`CrowdedLists` asks for the number of
 * children first). The answer THROTTLED is held back for a while (`ThrottledAnswers`). No request comes sooner than its
 * turn: a list sees every write in front of it.
 *
 * Every request settles: at once with `NOT_CONNECTED` while the link is down, with `CONNECTION_LOSS` when the link goes
 * down before the answer. No request is sent twice.
 */
export interface Session {
  /** Whether requests can be put together in a `multi`. Where not, a `multi` is refused before it is sent. */
  readonly hasMultis: boolean;
  /** Time as this session sees it. Certainty is judged by this clock. */
  readonly clock: Clock;
  readonly state: ConnectionState;
  /** Replays the current state, then emits every change. Completes after `closed`. */
  readonly state$: Observable<ConnectionState>;
  /** The session as last granted; undefined before the first, once it is known to have ended, and after close. */
  readonly identity: SessionIdentity | undefined;
  /** Whether `close` was called or the session gave up by itself. Every request is refused from then on. */
  readonly isClosing: boolean;
  /** Why the session closed by itself; undefined where it did not. */
  readonly failure: LockConfigurationError | undefined;
  /** The servers' refusal of the last write of `keepCertain` or `proveLife`; undefined where they accepted it. */
  readonly heartbeatRefusal: SessionError | undefined;
  /**
   * When the servers last answered that a write was committed for this session or the one before it; undefined before.
   */
  readonly lastProofAt: number | undefined;
  /**
   * For how long, at the least, the event loop has stood still since `lastProofAt`, as a late timer shows; 0 where no
   * timer was late.
   */
  readonly stalledMs: number;
  /** What went wrong with each server since the link was last up, for people; '' where nothing did. */
  describeFailures(): string;

  /**
   * The instant, on `clock`, up to which the servers cannot have ended the session; -Infinity without a session. It is
   * derived from committed writes alone, because a server that is cut off answers pings and reads for longer than the
   * session lives. It goes back only while another server is asked to take the session up, and when that server grants
   * a smaller time-out.
   */
  certainUntil(): number;
  /** Emits at once when `certainUntil` may have gone back. Completes after `closed`. */
  readonly certaintyLowered$: Observable<void>;
  /**
   * Since when certainty has been unbroken; Infinity without a session. A proof that comes after `certainUntil` has
   * passed begins a new stretch: locks held before it must be taken for lost, even where the session turns out to have
   * survived.
   */
  certainSince(): number;
  /**
   * Keeps `certainUntil` ahead of the clock with small writes of the session's own, as long as a caller holds on to it.
   * The returned function lets go; calling it again does nothing.
   */
  keepCertain(): () => void;
  /**
   * Resolves when the session is certain to live for more than `forMs` from now, at once if it is already. It sends a
   * write as soon as one can prove it, and rejects with a `SessionError` when the link or the session goes away first.
   * A session time-out of two ticks leaves less than one tick of certainty to ask for.
   * @default 0
   */
  proveLife(forMs?: number): Promise<void>;

  /**
   * Sends requests back to back in one write, with nothing in between, except for a list that has to wait (see above).
   * It never rejects: each request has its own outcome, a reply or a `SessionError`.
   */
  batch<const R extends readonly Request[]>(requests: R): Promise<{ [I in keyof R]: Outcome<R[I]> }>;
  /**
   * Hands to the operating system what was sent in this turn of the event loop and would otherwise leave at its end. A
   * process that ends at the next statement would take the rest with it.
   * @returns a promise that resolves when everything is handed over or the link is gone; undefined when that is so
   * already
   */
  flush(): Promise<void> | undefined;
  /**
   * Takes back the watches that this watcher set on this path. It is not called any more, and the server forgets a
   * watch that nobody else here wants. There is nothing to wait for: requests sent later find the watch gone.
   */
  unwatch(path: string, watcher: Watcher): void;

  /**
   * Ends the session at the servers, so that its ephemeral nodes go at once, and then the connection. It takes
   * `withinMs` at the most; after that the servers end the session by time-out. It is safe in every state, and more
   * than once.
   * @default 1000
   */
  close(withinMs?: number): Promise<void>;
}
