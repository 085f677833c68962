import type { LockMode } from './mode.js';

/** What reaches the network edge of a lock: the whole fleet, or, in degraded mode, this process alone. */
export type LockScope = 'fleet' | 'process';

/**
 * A lock that is held, until it is released or lost. Never holds more than it says: `isHeld()` asks the clock, so it is
 * false in time even when no news could come.
 */
export abstract class LockHandle implements AsyncDisposable {
  abstract readonly key: string;
  abstract readonly mode: LockMode;
  /** The contender's node, as it is seen from outside: for `zkCli`, logs and the lock doctor. */
  abstract readonly nodePath: string;
  abstract readonly scope: LockScope;
  /**
   * Rises strictly from one writing holder of the key to the next. Hand it to whatever the lock protects, and have that
   * refuse a smaller one than it has seen: it covers what no clock can (a machine asleep).
   * @throws LockConfigurationError where `scope` is `process`: such a lock has none
   */
  abstract readonly fencingToken: bigint;
  /** Aborts, with a `LockLostError` as its reason, shortly before the lock can no longer be trusted. */
  abstract readonly signal: AbortSignal;

  /** Whether the lock is certain to be ours at this moment. Once false, false for ever. */
  abstract isHeld(): boolean;
  /** @throws LockLostError unless `isHeld()` */
  abstract assertHeld(): void;
  /** For how long the lock is certain from now on if nothing more is heard of the servers; 0 when it is not. */
  abstract remainingMs(): number;
  /**
   * Resolves when the link is up and the lock is proved to be ours; at once, usually. Await it before a write that must
   * not happen during a suspension. Rejects with a `LockLostError` when the lock is lost.
   */
  abstract whenSure(): Promise<void>;
  /**
   * Lets the hold go on for `leaseMs` from now. Only for a lock that was acquired with a lease. On a handle that shares a
   * lock it puts off the lease of that handle; where it has none, the lease with which the lock was taken.
   * @throws LockLostError when it is not held any more
   */
  abstract extend(leaseMs: number): void;
  /**
   * Turns an `upgradeable` hold into a writing one, waiting for the readers that are inside. The place in the queue and
   * the token stay. When it fails, the upgradeable hold goes on.
   */
  abstract upgrade(options?: UpgradeOptions): Promise<void>;
  /**
   * Gives the lock back: from the call on it is not held. Resolves when the servers have confirmed, so that the next one may
   * enter; at once while the link is down, or when it goes down meanwhile: then the node is removed when it is back, or goes
   * with the session. Safe to call twice, and after a loss. Does not reject.
   */
  abstract release(): Promise<void>;

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

export interface UpgradeOptions {
  /** How long to wait for the readers, in milliseconds; 0: try once, for the second that answers may take. @default the module's `waitMs` */
  readonly waitMs?: number;
  /** Ends the wait; the upgradeable hold goes on. */
  readonly signal?: AbortSignal;
}

/** Several locks taken and given back as one. Losing one loses all. */
export abstract class MultiLockHandle implements AsyncDisposable {
  /** In the order in which they were taken. */
  abstract readonly locks: readonly LockHandle[];
  abstract readonly signal: AbortSignal;

  /** The token of one of the keys. */
  abstract fencingToken(key: string): bigint;
  abstract isHeld(): boolean;
  abstract assertHeld(): void;
  abstract remainingMs(): number;
  abstract whenSure(): Promise<void>;
  /** Gives all of them back, as each by itself would be. */
  abstract release(): Promise<void>;

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
