import { type AsJson, jsonOf, type JsonOf, withJson } from './json.js';
import type { LockMode } from './mode.js';

/**
 * - `FREE`: nobody holds it
 * - `HELD`: somebody does
 * - `EXPIRED`: its last holder vanished without giving it back, and the lock-delay for it is running
 */
export type LockState = 'FREE' | 'HELD' | 'EXPIRED';

/** A contender in JSON: its token in digits, its dates as ISO text. */
export interface ContenderSnapshotJson extends Omit<JsonOf<ContenderFacts>, 'client'> {
  readonly client: ClientDescriptionJson | undefined;
}

/** Who is behind a contender, in JSON: its date as ISO text. */
export type ClientDescriptionJson = JsonOf<ClientDescription>;

/** One contender, as its node tells. Contenders of other makes leave most of it empty. */
export interface ContenderSnapshot extends ContenderFacts, AsJson<ContenderSnapshotJson> {}

export interface ContenderFacts {
  readonly nodePath: string;
  readonly mode: LockMode;
  readonly fencingToken: bigint;
  /** The session that the node lives by, in hexadecimal digits: `0x...`, as ZooKeeper's own logs have it. */
  readonly sessionId: string;
  /** When the node was made, by the servers' wall clock: since when it waits, and for holders that never waited, holds. */
  readonly since: Date;
  readonly ageMs: number;
  /** Who is behind it; undefined for contenders that do not say. */
  readonly client: ClientDescription | undefined;
}

/** What a contender of ours writes into its node. Who else wrote there may have left any of it out: that is undefined. */
export interface ClientDescription {
  /** One lock service of one process. */
  readonly clientId: string;
  readonly host: string | undefined;
  readonly pid: number | undefined;
  /** The logical caller: the same for all locks that one async context holds. */
  readonly owner: string;
  readonly label: string | undefined;
  readonly mode: LockMode | undefined;
  /** By the client's wall clock, which may differ from that of the servers, and from ours. */
  readonly askedAt: Date | undefined;
  readonly leaseMs: number | undefined;
  /** What the next holder is to do should this one vanish: wait so long. */
  readonly lockDelayMs: number | undefined;
  /** How long holds of this key took in its process of late, in milliseconds; undefined before the first. */
  readonly holdMs: number | undefined;
}

/** A snapshot in JSON. */
export interface LockSnapshotJson extends Omit<LockFacts, 'holders' | 'queue'> {
  readonly holders: readonly ContenderSnapshotJson[];
  readonly queue: readonly ContenderSnapshotJson[];
}

/** A key at one moment. `JSON.stringify` takes it as it is. */
export interface LockSnapshot extends LockFacts, AsJson<LockSnapshotJson> {}

export interface LockFacts {
  readonly key: string;
  readonly state: LockState;
  readonly holders: readonly ContenderSnapshot[];
  /** Who waits, in the order in which they will be served. At most the first hundred. */
  readonly queue: readonly ContenderSnapshot[];
  /** How many wait in all. */
  readonly queueLength: number;
  /**
   * How long a newcomer would wait, judged by how long holds of this key take in the processes that queue here (the median of
   * what their contenders say), or else in this one; undefined where none of them has held it yet.
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
  return { ...this, holders: holders!, queue: queue! };
}
