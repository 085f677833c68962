import type { AbandonedLock } from './abandoned.js';
import type { LockMode } from './mode.js';

/** How far a lock reaches: over the whole fleet, or in degraded mode over this process alone. */
export type LockScope = 'fleet' | 'process';

/**
 * A lock that is held until it is released or lost. It never claims too much: `isHeld()` asks the clock, so it turns
 * false in time even when no news can arrive.
 */
export abstract class LockHandle implements AsyncDisposable {
  abstract readonly key: string;
  abstract readonly mode: LockMode;
  /** The path of the contender's node as the servers know it, for `zkCli`, logs and the lock doctor. */
  abstract readonly nodePath: string;
  abstract readonly scope: LockScope;
  /**
   * A number that rises strictly from one writing holder of the key to the next. Pass it to the store that the lock
   * protects, and let the store refuse a smaller one than it has seen. That covers what no clock can, such as a machine
   * asleep.
   * @throws LockConfigurationError where `scope` is `process`: such a lock has no token
   */
  abstract readonly fencingToken: bigint;
  /**
   * What a holder that vanished inside has left behind; undefined where the last one released the lock, or said nothing
   * of itself (see `onAbandoned`).
   */
  abstract readonly abandoned: AbandonedLock | undefined;
  /** Aborts, with a `LockLostError` as its reason, shortly before the lock can no longer be trusted. */
  abstract readonly signal: AbortSignal;

  /** Whether this lock is certainly held at this moment. Once it is false, it stays false. */
  abstract isHeld(): boolean;
  /** @throws LockLostError unless `isHeld()` */
  abstract assertHeld(): void;
  /** How long the lock stays certain if the servers are not heard of again; 0 when it is not certain now. */
  abstract remainingMs(): number;
  /**
   * Resolves when the link is up and the lock is proved to be held, usually at once. Await it before a write that must
   * not happen during a suspension. It rejects with a `LockLostError` when the lock is lost.
   */
  abstract whenSure(): Promise<void>;
  /**
   * Lets the hold go on for `leaseMs` from now. It is only for a lock that was acquired with a lease. On a handle that
   * shares a lock it extends that handle's own lease, or the lock's lease where the handle has none.
   * @throws LockLostError when the lock is no longer held
   */
  abstract extend(leaseMs: number): void;
  /**
   * Turns an `upgradeable` hold into a writing one, once the readers that are inside have left. The place in the queue
   * and the token stay. When the upgrade fails, the upgradeable hold goes on.
   */
  abstract upgrade(options?: UpgradeOptions): Promise<void>;
  /**
   * Notes how far the work is, for whoever comes after this holder if it vanishes. It is for a lock that was acquired
   * with `onAbandoned`, and costs one write. It resolves when the servers have it. The next one replaces it.
   * @param data what JSON can say, 8 KiB of it at the most
   * @throws LockLostError when the lock is no longer held
   */
  abstract checkpoint(data: unknown): Promise<void>;
  /**
   * Calls back when `belowMs` or less of `remainingMs()` is left: an early warning, before `signal` aborts. It does so
   * once each time when the time that is left falls so low. A session that is well keeps more than half of its time-out;
   * a lease runs down to 0, and `extend` in the callback renews it. The callback runs in the async context of this call.
   * @param belowMs in milliseconds, above 0
   * @returns how to stop. The release and the loss of the lock stop it, too
   * @throws LockLostError when the lock is no longer held
   */
  abstract onRemaining(belowMs: number, callback: (remainingMs: number) => void): () => void;
  /**
   * Releases the lock, which is no longer held from the call on. It resolves when the servers have confirmed, so that
   * the next contender may enter. While the link is down it resolves at once, and the node is removed when the link is
   * back, or ends with the session. It is safe to call twice and after a loss, and it does not reject.
   */
  abstract release(): Promise<void>;

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

export interface UpgradeOptions {
  /**
   * How long to wait for the readers, in milliseconds. 0 tries once and waits a second for the answer. @default the
   * module's `waitMs`
   */
  readonly waitMs?: number;
  /** Ends the wait. The upgradeable hold goes on. */
  readonly signal?: AbortSignal;
}

/** Several locks that are acquired and released as one. Losing one loses all. */
export abstract class MultiLockHandle implements AsyncDisposable {
  /** The locks in the order in which they were acquired. */
  abstract readonly locks: readonly LockHandle[];
  abstract readonly signal: AbortSignal;

  /** The fencing token of one of the keys. */
  abstract fencingToken(key: string): bigint;
  abstract isHeld(): boolean;
  abstract assertHeld(): void;
  abstract remainingMs(): number;
  abstract whenSure(): Promise<void>;
  /** Releases all locks, each as its own `release()` would. */
  abstract release(): Promise<void>;

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
