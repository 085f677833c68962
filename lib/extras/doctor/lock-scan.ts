import type { AbandonedLock, AbandonedLockJson } from '../../lock/abandoned.js';
import { type AsJson, withJson } from '../../lock/json.js';
import type { ContenderSnapshot, ContenderSnapshotJson, LockState } from '../../lock/snapshot.js';

/** The scan reads the part of the tree that these choose. */
export interface ScanOptions {
  /** Only this key and the keys below it. @default '/', all keys of the namespace */
  readonly prefix?: string;
  /** Ends the reading: the call fails with a LockAbortedError. */
  readonly signal?: AbortSignal;
  /** Called after each batch of answers. An error that it throws ends the call. */
  readonly onProgress?: (progress: ScanProgress) => void;
}

/** A scan has come this far. */
export interface ScanProgress {
  /** The nodes that were read so far, those of contenders included. */
  readonly nodes: number;
  /** The keys with contenders that were found so far. */
  readonly locks: number;
}

export interface LockRowFacts {
  readonly key: string;
  /** The kind of the key, such as `/locks/:id`, where one of its contenders says so. */
  readonly template: string | undefined;
  readonly state: LockState;
  readonly holders: readonly ContenderSnapshot[];
  /** The number of contenders that wait. */
  readonly waiting: number;
  /**
   * The first of the holders asked this long ago: it has held since then, or waited first. When it entered, its node
   * does not say. Undefined where nobody holds.
   */
  readonly holderAgeMs: number | undefined;
  readonly longestWaitMs: number | undefined;
  /** All who wait now have waited this long, taken together. */
  readonly waitedMs: number;
  /** A holder that vanished inside, until what it left is recovered or cleared. */
  readonly abandoned: AbandonedLock | undefined;
}

/** A row in JSON. */
export interface LockRowJson extends Omit<LockRowFacts, 'holders' | 'abandoned'> {
  readonly holders: readonly ContenderSnapshotJson[];
  readonly abandoned: AbandonedLockJson | undefined;
}

/** One key that has contenders, or a record that closes it. `JSON.stringify` accepts it. */
export interface LockRow extends LockRowFacts, AsJson<LockRowJson> {}

export interface LockScanFacts {
  /** When the reading began, by the wall clock of this process. */
  readonly at: Date;
  /** In the order of their keys. */
  readonly locks: readonly LockRow[];
  /** The client may not list this many nodes: the scan knows nothing of what is below them. */
  readonly unreadable: number;
}

/** A scan in JSON. */
export interface LockScanJson extends Omit<LockScanFacts, 'at' | 'locks'> {
  readonly at: string;
  readonly locks: readonly LockRowJson[];
}

/** The locks of a part of the tree. `JSON.stringify` accepts it. */
export interface LockScan extends LockScanFacts, AsJson<LockScanJson> {}

export function lockRow(facts: LockRowFacts): LockRow {
  return withJson<LockRowFacts, LockRowJson>(facts, rowJson);
}

export function lockScan(facts: LockScanFacts): LockScan {
  return withJson<LockScanFacts, LockScanJson>(facts, scanJson);
}

function rowJson(this: LockRowFacts): LockRowJson {
  return { ...this, holders: this.holders.map((one) => one.toJSON()), abandoned: this.abandoned?.toJSON() };
}

function scanJson(this: LockScanFacts): LockScanJson {
  return { ...this, at: this.at.toJSON(), locks: this.locks.map((row) => row.toJSON()) };
}
