import type { LockScope } from './handle.js';
import { type AsJson, jsonOf, type JsonOf, withJson } from './json.js';
import type { LockMode } from './mode.js';

interface OfLock {
  readonly key: string;
  readonly mode: LockMode;
  readonly label: string | undefined;
  /** What kind of key it is: the path that `@Locked` was given, or the option `template`. */
  readonly template: string | undefined;
  /** The logical caller: the same for all locks that one async context holds. */
  readonly owner: string;
  /** Since when it is held, or asked for, by the clock of this process. */
  readonly since: Date;
}

/** A lock that this process holds. */
export interface HeldLockFacts extends OfLock {
  readonly scope: LockScope;
  /** Undefined where the scope is 'process'. */
  readonly token: bigint | undefined;
  readonly nodePath: string;
  readonly heldMs: number;
  /** How long it stays certain if the servers are not heard of again. */
  readonly remainingMs: number;
}

/** A call of this process that waits for a lock. */
export interface PendingLockFacts extends OfLock {
  readonly waitedMs: number;
  /** How many are ahead, as far as this process knows; undefined before the call has joined the queue. */
  readonly ahead: number | undefined;
}

export interface ProcessLocksFacts {
  /** The oldest first. */
  readonly held: readonly HeldLockFacts[];
  /** The oldest first. Waits of `upgrade()` are not in it: they have the lock. */
  readonly pending: readonly PendingLockFacts[];
  /** How many nodes that are no longer needed the servers have not confirmed to be gone. They block others until then. */
  readonly removals: number;
  /** How long the session is certain to live if the servers are not heard of again; 0 while it is not certain. */
  readonly certainMs: number;
}

/** The same in JSON: tokens as digits, dates as ISO text. */
export interface ProcessLocksJson {
  readonly held: readonly JsonOf<HeldLockFacts>[];
  readonly pending: readonly JsonOf<PendingLockFacts>[];
  readonly removals: number;
  readonly certainMs: number;
}

/** What one process holds and waits for, at one moment. `JSON.stringify` accepts it. */
export interface ProcessLocks extends ProcessLocksFacts, AsJson<ProcessLocksJson> {}

export function processLocks({ held, pending, ...numbers }: ProcessLocksFacts): ProcessLocks {
  const oldestFirst = <Facts extends OfLock>(facts: readonly Facts[]): Facts[] =>
    [...facts].sort((one, other) => one.since.getTime() - other.since.getTime());
  return withJson({ held: oldestFirst(held), pending: oldestFirst(pending), ...numbers }, inJson);
}

function inJson(this: ProcessLocksFacts): ProcessLocksJson {
  const { held, pending } = this;
  return { ...this, held: held.map((one) => jsonOf(one)), pending: pending.map((one) => jsonOf(one)) };
}
