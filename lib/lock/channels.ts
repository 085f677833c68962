import type { LockErrorCode } from './errors.js';
import type { LossReason } from './events.js';
import type { LockScope } from './handle.js';
import type { LockMode } from './mode.js';

/**
 * The channels of `node:diagnostics_channel` on which every lock service of the process tells of its locks: `acquire` and
 * `hold` are each a `tracingChannel(name)`, `enqueue` is a plain `channel(name)`. They cost nothing while nobody subscribes.
 * A subscriber runs inside the call and delays it; an error of its own is an uncaught exception, and harms no lock.
 */
export const LOCK_CHANNELS = {
  /** One call for a lock, from the question to the answer: an `AcquireMessage`. A call that re-enters a lock is none. */
  acquire: 'nestjs-zookeeper-lock:acquire',
  /**
   * A call has joined the queue of its key, and how many are `ahead` of it is known: its `AcquireMessage`, while it waits.
   * Once each time that it joins: a call whose session has ended, or whose node somebody has removed, joins again. What is
   * published here is so in the turn in which an answer of the servers is read, so the async context is not the call's.
   */
  enqueue: 'nestjs-zookeeper-lock:enqueue',
  /** One lock that is held, from its begin to its release or loss: a `HoldMessage`. */
  hold: 'nestjs-zookeeper-lock:hold',
} as const;

interface OfTrace {
  /** The connection's name in `DistributedLockModule`; 'default' where it has none. */
  readonly connection: string;
  readonly key: string;
  /** What kind of key it is, such as `/locks/:id`: what `@Locked` was given, or the option `template`. */
  readonly template: string | undefined;
  readonly label: string | undefined;
  /** The logical caller: the same for all locks that one async context holds. */
  readonly owner: string;
}

/**
 * What is published of a call for a lock: the same object at its `start` and `end`, and, with the rest filled in, at its
 * `asyncStart` and `asyncEnd`; where the call fails, at `error` before these.
 */
export interface AcquireMessage extends OfTrace {
  readonly mode: LockMode;
  /**
   * The span in which the call is made, as a W3C `traceparent`. A subscriber that traces sets it, before it returns from `start`. The
   * contender's node has it then, so that those who wait for this call can link to that span, in whichever process they are.
   */
  traceparent: string | undefined;
  /**
   * The same of the calls that this one has waited for, as far as they have one: of the first ahead of it in this process, of the node of
   * another process that it watched, and, where its time is up, of the holder; the newest come last, and eight are kept. Those of other
   * processes are what stands in their nodes: a well-formed text, and nothing more.
   */
  waitedFor: readonly string[];
  /**
   * How many were ahead when it joined the queue, 0 where it had to wait for none of them; undefined where it did not join. Where
   * it joined again, this is so of the last time.
   */
  ahead: number | undefined;
  /** How long the call took. */
  waitedMs: number | undefined;
  /**
   * The time between the news that the one in front has gone and the begin of this hold; undefined for a call that did not
   * wait, or did not hear that news.
   */
  handOverMs: number | undefined;
  /** The fencing token, as digits. */
  token: string | undefined;
  /** 'busy' is the answer to a call that only tries. */
  outcome: 'acquired' | 'busy' | 'failed' | undefined;
  /** The code of a `LockError`; undefined for the error of a `recover` function. */
  code: LockErrorCode | undefined;
  error: unknown;
}

/** What is published of a hold: the same object at its `start` and `end`, and at its `asyncStart` and `asyncEnd`. */
export interface HoldMessage extends OfTrace {
  readonly scope: LockScope;
  /** The fencing token, as digits; undefined where the scope is 'process'. */
  readonly token: string | undefined;
  readonly waitedMs: number;
  /** An upgrade changes it. */
  mode: LockMode;
  heldMs: number | undefined;
  outcome: 'released' | 'lost' | undefined;
  /** Why it was lost. */
  reason: LossReason | undefined;
  error: unknown;
}
