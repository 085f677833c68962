import { type AsJson, withJson } from '../../lock/json.js';
import type { ContenderSnapshot, ContenderSnapshotJson } from '../../lock/snapshot.js';
import type { ScanOptions } from './lock-scan.js';

export interface ExamineOptions extends ScanOptions {
  /** A holder that asked longer ago than this is a finding, in milliseconds: since when it holds, its node does not say. @default 300000 */
  readonly longHoldMs?: number;
  /** A queue in which more than so many wait is a finding. @default 100 */
  readonly longQueue?: number;
  /**
   * The lines to paste name the connection by these words of the command line: `['--connect', 'zk1:2181']`. They name no server by
   * themselves, only the namespace; and words of a process can be read by everybody on its machine, so no secret belongs here. @default none
   */
  readonly lineOptions?: readonly string[];
}

export type FindingKind =
  | 'abandoned'
  | 'container not reaped'
  | 'deadlock'
  | 'foreign node'
  | 'long hold'
  | 'long queue'
  | 'orphan'
  | 'sequence nearly full'
  | 'session near its limit'
  | 'wait without a label';

/**
 * - `critical`: a lock stands still, or is about to, until somebody does something
 * - `warning`: somebody should look, today
 * - `notice`: worth knowing
 */
export type FindingSeverity = 'critical' | 'warning' | 'notice';

/** One thing that somebody should know of. It is plain data. */
export interface Finding {
  readonly kind: FindingKind;
  readonly severity: FindingSeverity;
  /** The key that it is about; undefined where it is about several, or about a session. */
  readonly key: string | undefined;
  /** Says what is the case. */
  readonly text: string;
  /** Says what to do. */
  readonly advice: string;
}

/** A key in JSON. */
export interface CostlyKeyJson extends Omit<CostlyKey, 'blocker'> {
  readonly blocker: ContenderSnapshotJson | undefined;
}

/** A key that others wait for. */
export interface CostlyKey {
  readonly key: string;
  /** All who wait now have waited this long, taken together. */
  readonly waitedMs: number;
  readonly waiting: number;
  /** The holder that was first in the queue; undefined where nobody holds the lock. */
  readonly blocker: ContenderSnapshot | undefined;
  /** The command that breaks its lock, to be pasted into a shell. */
  readonly breakLine: string | undefined;
}

export interface ExaminationFacts {
  /** When the reading began, by the wall clock of this process. */
  readonly at: Date;
  /** The keys that were examined: those with contenders, or with a record that closes them. */
  readonly locks: number;
  /** The worst first. */
  readonly findings: readonly Finding[];
  /** The keys that cost most waiting, the costliest first; at most twenty. */
  readonly costliest: readonly CostlyKey[];
}

/** An examination in JSON. */
export interface LockExaminationJson {
  readonly at: string;
  readonly locks: number;
  readonly findings: readonly Finding[];
  readonly costliest: readonly CostlyKeyJson[];
}

/** Tells what is worth knowing of the locks now. `JSON.stringify` accepts it. */
export interface LockExamination extends ExaminationFacts, AsJson<LockExaminationJson> {}

export function lockExamination(facts: ExaminationFacts): LockExamination {
  return withJson<ExaminationFacts, LockExaminationJson>(facts, examinationJson);
}

function examinationJson(this: ExaminationFacts): LockExaminationJson {
  const costliest = this.costliest.map(({ blocker, ...key }) => ({ ...key, blocker: blocker?.toJSON() }));
  return { at: this.at.toJSON(), locks: this.locks, findings: this.findings, costliest };
}
