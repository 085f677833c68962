import type { LockError, LockLostError, LossEvidence } from './errors.js';
import type { AsJson, JsonOf } from './json.js';
import type { LockMode } from './mode.js';

/** Why a lock was lost. */
export type LossReason =
  /** The servers ended the session. */
  | 'session-ended'
  /** Nothing has proved for too long that the session lives. */
  | 'uncertain'
  /** The link is down, and `onSuspended: 'stop'` was chosen. */
  | 'suspended'
  /** Somebody removed the contender's node: an operator, the lock doctor. */
  | 'removed'
  /** `leaseMs` has passed without an `extend`. */
  | 'lease-ended'
  /** The lock service was closed before the holder was done. */
  | 'closed'
  /** Another lock of the same `acquireAll` was lost. */
  | 'sibling-lost';

interface OfLock {
  readonly key: string;
  readonly mode: LockMode;
  readonly label: string | undefined;
}

/** An event in JSON: what it is about, its token in digits, and of an error no more than those who call from outside may read. */
export type LockEventJson = JsonOf<LockEventFacts>;

/** What happened to locks, for logs and metrics. Never the truth about who holds: ask the handle. `JSON.stringify` takes it as it is. */
export type LockEvent = LockEventFacts & AsJson<LockEventJson>;

export type LockEventFacts =
  | (OfLock & { readonly type: 'acquired'; readonly token: bigint | undefined; readonly waitedMs: number })
  | (OfLock & { readonly type: 'released'; readonly token: bigint | undefined; readonly heldMs: number })
  | (OfLock & {
      readonly type: 'lost';
      readonly token: bigint | undefined;
      readonly reason: LossReason;
      readonly heldMs: number;
      /** What the holder was told. */
      readonly error: LockLostError;
      /** What the session had seen by then; also on the error. */
      readonly evidence: LossEvidence;
    })
  | (OfLock & { readonly type: 'failed'; readonly error: Error; readonly waitedMs: number })
  /** The session was lost while the contender queued (or its node was removed): it has gone to the end of the queue. */
  | (OfLock & { readonly type: 'requeued'; readonly reason: 'session-ended' | 'removed' })
  /** A function went on after its lock was lost, and has ended now; its caller was told of the loss long since. */
  | (OfLock & { readonly type: 'late-result'; readonly token: bigint | undefined; readonly error: unknown })
  /**
   * A node that is done with cannot be removed: the servers refuse it (an `acl` without DELETE). It stands in the queue,
   * in the way of others, and is tried again until the session ends. Told once for each; `release()` waits for it in vain.
   */
  | (OfLock & { readonly type: 'not-removed'; readonly nodePath: string; readonly error: LockError })
  /** ZooKeeper is not to be had, and a lock of this process alone was given out (`whenUnavailable: 'local'`). */
  | (OfLock & { readonly type: 'degraded' });
