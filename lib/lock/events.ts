import type { LockError, LockLostError, LossEvidence } from './errors.js';
import type { AbandonedLock } from './abandoned.js';
import type { AsJson, JsonOf } from './json.js';
import type { LockMode } from './mode.js';

/** Why a lock was lost. */
export type LossReason =
  /** The servers ended the session. */
  | 'session-ended'
  /** Nothing has proved for too long that the session is alive. */
  | 'uncertain'
  /** The link is down, and the option `onSuspended: 'stop'` ends locks then. */
  | 'suspended'
  /** Somebody removed the contender's node, such as an operator or the lock doctor. */
  | 'removed'
  /** `leaseMs` passed without an `extend`. */
  | 'lease-ended'
  /** The lock service was closed before the holder was done. */
  | 'closed'
  /** Another lock of the same `acquireAll` was lost. */
  | 'sibling-lost'
  /** An operator broke the lock (`doctor.break`): the error is a LockBrokenError. */
  | 'broken';

/** As members of an object, so that the compiler misses one that is not there. */
const REASONS: Readonly<Record<LossReason, true>> = {
  'session-ended': true,
  uncertain: true,
  suspended: true,
  removed: true,
  'lease-ended': true,
  closed: true,
  'sibling-lost': true,
  broken: true,
};
export const LOSS_REASONS = Object.keys(REASONS) as readonly LossReason[];

interface OfLock {
  readonly key: string;
  readonly mode: LockMode;
  readonly label: string | undefined;
  /** What kind of key it is, such as `/locks/:id`: the path that `@Locked` was given, or the option `template`. */
  readonly template: string | undefined;
  /** The logical caller: the same for all locks that one async context holds. Undefined where it is not known. */
  readonly owner: string | undefined;
}

/** An event in JSON. Tokens are digits, and an error shows only what an outside caller may read. */
export type LockEventJson = JsonOf<LockEventFacts>;

/**
 * What happened to locks, for logs and metrics. It never decides who holds a lock: ask the handle. `JSON.stringify`
 * accepts it.
 */
export type LockEvent = LockEventFacts & AsJson<LockEventJson>;

export type LockEventFacts =
  | (OfLock & { readonly type: 'acquired'; readonly token: bigint | undefined; readonly waitedMs: number })
  | (OfLock & {
      readonly type: 'released';
      readonly token: bigint | undefined;
      /** How long the lock was waited for before it was held. */
      readonly waitedMs: number;
      readonly heldMs: number;
    })
  | (OfLock & {
      readonly type: 'lost';
      readonly token: bigint | undefined;
      readonly reason: LossReason;
      readonly waitedMs: number;
      readonly heldMs: number;
      /** The error that the holder got. */
      readonly error: LockLostError;
      /** What the session had seen by then. The error has it, too. */
      readonly evidence: LossEvidence;
    })
  | (OfLock & {
      readonly type: 'failed';
      readonly error: Error;
      readonly waitedMs: number;
      /** Whether it is the answer to a call that only tries (`waitMs: 0`): the lock is busy, and nothing has gone wrong. */
      readonly busy: boolean;
    })
  /**
   * The contender lost its session or its node while it queued, or the lock in the instant in which it got it, and went to the end
   * of the queue.
   */
  | (OfLock & { readonly type: 'requeued'; readonly reason: 'session-ended' | 'removed' | 'lost' })
  /** A lock was acquired whose last holder had vanished inside. `token` is that of the new holder. */
  | (OfLock & { readonly type: 'abandoned'; readonly token: bigint | undefined; readonly abandoned: AbandonedLock })
  /** A function that went on after its lock was lost has ended now. Its caller was told of the loss long before. */
  | (OfLock & { readonly type: 'late-result'; readonly token: bigint | undefined; readonly error: unknown })
  /**
   * The servers refuse to remove a node that is no longer needed (an `acl` without DELETE). The node stays in the queue
   * and blocks others. The removal is tried again until the session ends, and `release()` waits for it in vain. Told
   * once per node.
   */
  | (OfLock & { readonly type: 'not-removed'; readonly nodePath: string; readonly error: LockError })
  /** ZooKeeper could not be reached, and a lock of this process alone was given out (`whenUnavailable: 'local'`). */
  | (OfLock & { readonly type: 'degraded' });
