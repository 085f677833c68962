import type { Observable } from 'rxjs';
import type { Clock } from '../lock/clock.js';
import type { LockConfigurationError } from '../lock/errors.js';
import type { ConnectionState } from './connection-state.js';
import type { SessionError } from './errors.js';
import type { Outcome, Request, Watcher } from './requests.js';

/** One session at the ensemble. After an expiry the client opens another, with another identity object. */
export interface SessionIdentity {
  readonly id: bigint;
  /** S: the time-out that the server granted, not the one that was asked for. */
  readonly timeoutMs: number;
}

/**
 * The port: what a lock needs of ZooKeeper, and no more. `wire` speaks to real servers, `simulator` is an ensemble in
 * memory, and the contract suite holds both to the same behaviour.
 *
 * Requests are sent and answered in the order in which they were asked for, with two exceptions that come later, behind some
 * that were asked for after them: a list of a node of which two others are under way, or one was too large (`CrowdedLists` asks
 * for the number of children first), and the answer THROTTLED, which is kept back for a while (`ThrottledAnswers`). None comes
 * earlier: a list sees every write in front of it.
 *
 * Each request settles: at once with `NOT_CONNECTED` while the link is down, with `CONNECTION_LOSS` when it goes down before the
 * answer. None is ever sent twice.
 */
export interface Session {
  /** Time as this session sees it; certainty is judged by it. */
  readonly clock: Clock;
  readonly state: ConnectionState;
  /** Replays the current state, then every change; completes after `closed`. */
  readonly state$: Observable<ConnectionState>;
  /** The session as last granted; undefined before the first, once it is known to have ended, and after close. */
  readonly identity: SessionIdentity | undefined;
  /** Whether `close` was called, or the session gave up by itself: every request is refused from then on. */
  readonly isClosing: boolean;
  /** Why the session closed by itself, where it did. */
  readonly failure: LockConfigurationError | undefined;
  /** What the servers answered to the last write of `keepCertain` or `proveLife`, where they refused it. */
  readonly heartbeatRefusal: SessionError | undefined;
  /** When the servers last answered that something was committed for this session or the one before it; undefined before. */
  readonly lastProofAt: number | undefined;
  /** For how long the event loop has stood still since `lastProofAt`, at least: what a late timer tells. 0: no timer was late. */
  readonly stalledMs: number;
  /** What went wrong with each server since the link was last up, for people; '' where nothing did. */
  describeFailures(): string;

  /**
   * The instant, on `clock`, up to which the servers cannot have ended the session. Derived from committed writes
   * alone: a server that is cut off answers pings and reads for longer than the session lives. -Infinity without a
   * session. Goes back only while another server is asked to take the session up, and when it grants a smaller time-out.
   */
  certainUntil(): number;
  /** Tells that `certainUntil` may have gone back, at once; completes after `closed`. */
  readonly certaintyLowered$: Observable<void>;
  /**
   * Since when certainty has been unbroken. A proof that comes after `certainUntil` has passed begins a new stretch: what
   * was held before it must be taken for lost, even where the session turns out to have survived. Infinity without a
   * session.
   */
  certainSince(): number;
  /**
   * Keeps `certainUntil` ahead of the clock with small writes of the session's own, for as long as somebody holds on to
   * it. The returned function lets go; calling it again does nothing.
   */
  keepCertain(): () => void;
  /**
   * Resolves when the session is certain to live for more than `forMs` from now (at once, if it is already), sending a
   * write as soon as one can prove it. Rejects with a `SessionError` when the link or the session goes away first.
   * A time-out of two ticks leaves less than one tick of certainty to ask for.
   * @default 0
   */
  proveLife(forMs?: number): Promise<void>;

  /**
   * Sends requests back to back in one write, with nothing in between, but for a list that has to wait (above). Never rejects:
   * each request has its own outcome, a reply or a `SessionError`.
   */
  batch<const R extends readonly Request[]>(requests: R): Promise<{ [I in keyof R]: Outcome<R[I]> }>;
  /**
   * Hands to the operating system what was sent in this turn of the event loop, and would leave at its end: a process that
   * ends at the next statement takes with it what it has not handed over.
   * @returns what resolves when that is done, or there is no link any more; undefined when it is done
   */
  flush(): Promise<void> | undefined;
  /**
   * Takes back the watches which this watcher set on this path: it is not told any more from now on, and the server
   * forgets them when nobody else here wants them. Needs no waiting for: requests sent later find the watch gone.
   */
  unwatch(path: string, watcher: Watcher): void;

  /**
   * Ends the session at the servers, so that its ephemeral nodes go at once, then the connection; takes `withinMs` at
   * the most, after which the servers end the session by time-out. Safe to call in every state, and more than once.
   * @default 1000
   */
  close(withinMs?: number): Promise<void>;
}
