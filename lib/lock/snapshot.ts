import { type AsJson, jsonOf, type JsonOf, withJson } from './json.js';
import type { AbandonedLock, AbandonedLockJson } from './abandoned.js';
import type { LockMode } from './mode.js';

/**
 * - `FREE`: no contender holds the lock
 * - `HELD`: a contender holds it
 * - `EXPIRED`: nobody holds it, and the last holder vanished inside, without a release (`abandoned` says who): what comes
 *   next is for `onAbandoned` and the lock-delay to say
 */
export type LockState = 'FREE' | 'HELD' | 'EXPIRED';

/** A contender in JSON: its token as digits, its dates as ISO text. */
export interface ContenderSnapshotJson extends Omit<JsonOf<ContenderFacts>, 'client'> {
  readonly client: ClientDescriptionJson | undefined;
}

/** The client behind a contender in JSON: its date as ISO text. */
export type ClientDescriptionJson = JsonOf<ClientDescription>;

/** One contender as its node describes it. Contenders of other clients leave most of it empty. */
export interface ContenderSnapshot extends ContenderFacts, AsJson<ContenderSnapshotJson> {}

export interface ContenderFacts {
  readonly nodePath: string;
  readonly mode: LockMode;
  readonly fencingToken: bigint;
  /** The session that owns the node, in hexadecimal digits (`0x...`), as ZooKeeper's own logs write it. */
  readonly sessionId: string;
  /**
   * When the node was created, by the servers' wall clock. The contender waits since then, or holds if it never waited.
   */
  readonly since: Date;
  readonly ageMs: number;
  /** The client behind the contender; undefined for contenders that do not say. */
  readonly client: ClientDescription | undefined;
}

/**
 * What a contender of this package writes into its node. Other writers may leave parts out, which are undefined then.
 */
export interface ClientDescription {
  /** The id of one lock service in one process. */
  readonly clientId: string;
  readonly host: string | undefined;
  readonly pid: number | undefined;
  /** The logical caller: the same for all locks that one async context holds. */
  readonly owner: string;
  readonly label: string | undefined;
  /** What kind of key it is, such as `/locks/:id`: the path that `@Locked` was given, or the option `template`. */
  readonly template: string | undefined;
  readonly mode: LockMode | undefined;
  /** The client's wall clock, which may differ from the servers' and from this process's. */
  readonly askedAt: Date | undefined;
  readonly leaseMs: number | undefined;
  /** How long the next holder waits if this one vanishes. */
  readonly lockDelayMs: number | undefined;
  /** How long holds of this key lately took in that process, in milliseconds; undefined before the first hold. */
  readonly holdMs: number | undefined;
}

/** A snapshot in JSON. */
export interface LockSnapshotJson extends Omit<LockFacts, 'holders' | 'queue' | 'abandoned'> {
  readonly abandoned: AbandonedLockJson | undefined;
  readonly holders: readonly ContenderSnapshotJson[];
  readonly queue: readonly ContenderSnapshotJson[];
}

/** A key at one moment. `JSON.stringify` accepts it. */
export interface LockSnapshot extends LockFacts, AsJson<LockSnapshotJson> {}

export interface LockFacts {
  readonly key: string;
  readonly state: LockState;
  readonly holders: readonly ContenderSnapshot[];
  /**
   * What is known of a holder that vanished inside, until what it left is recovered, or cleared; undefined where there is
   * none, or where it wrote nothing down (see `onAbandoned`).
   */
  readonly abandoned: AbandonedLock | undefined;
  /** The waiting contenders in the order in which they will be served, the first hundred at the most. */
  readonly queue: readonly ContenderSnapshot[];
  /** How many contenders wait in total. */
  readonly queueLength: number;
  /**
   * How long a newcomer would wait. The estimate uses the median of the hold times that the waiting contenders report,
   * or else the hold times of this process; it is undefined where none of them has held the key yet.
   */
  readonly waitEstimateMs: number | undefined;
}

export function contenderSnapshot(facts: ContenderFacts): ContenderSnapshot {
  return withJson(facts, contenderJson);
}

export function lockSnapshot(facts: LockFacts): LockSnapshot {
  return withJson(facts, snapshotJson);
}

function contenderJson(this: ContenderFacts): ContenderSnapshotJson {
  const { client } = this;
  return { ...jsonOf<ContenderFacts>(this), client: client === undefined ? undefined : jsonOf(client) };
}

function snapshotJson(this: LockFacts): LockSnapshotJson {
  const [holders, queue] = [this.holders, this.queue].map((contenders) => contenders.map((one) => one.toJSON()));
  return { ...this, holders: holders!, queue: queue!, abandoned: this.abandoned?.toJSON() };
}
