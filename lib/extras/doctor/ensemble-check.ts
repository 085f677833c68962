import type { AsJson, JsonOf } from '../../lock/json.js';
import type { ServerReport } from './server-report.js';

/** From the best to the worst. With `failed` locks would not work, or not be safe; with `warning` they may not, one day. */
export type CheckOutcome = 'ok' | 'warning' | 'failed';

export type CheckName =
  'connection' | 'servers' | 'tls' | 'session time-out' | 'ticks' | 'access' | 'commits' | 'clocks';

/** One thing that was checked. */
export interface CheckItem {
  readonly name: CheckName;
  readonly outcome: CheckOutcome;
  /** Says what was found. */
  readonly text: string;
  /** Says what to do; undefined where nothing is to be done. */
  readonly advice: string | undefined;
}

/** Writes took these times, one after the other: a majority of the servers has each on disk before it is answered. */
export interface CommitTimes {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly slowestMs: number;
}

/** The check measured this; a member is undefined where the check did not come so far. */
export interface EnsembleMeasures {
  readonly servers: readonly ServerReport[];
  readonly sessionTimeoutMs: { readonly asked: number; readonly granted: number } | undefined;
  /** The least and the most that the servers grant. */
  readonly sessionBoundsMs: { readonly least: number; readonly most: number } | undefined;
  readonly commits: CommitTimes | undefined;
  /** From the call that acquired a lock of the check's own to the end of its release. */
  readonly lockMs: number | undefined;
  /** Timers of this process were late by this much at most. */
  readonly loopDelayMs: number | undefined;
  /** The servers' wall clock is ahead of this machine's by so much. */
  readonly serverClockAheadMs: number | undefined;
}

export interface EnsembleCheckFacts extends EnsembleMeasures {
  readonly at: Date;
  /** The worst of its items. */
  readonly outcome: CheckOutcome;
  readonly items: readonly CheckItem[];
}

/** Tells what a preflight found. `JSON.stringify` accepts it. */
export interface EnsembleCheck extends EnsembleCheckFacts, AsJson<JsonOf<EnsembleCheckFacts>> {}

/** @param tookMs at least one, in milliseconds */
export function commitTimesOf(tookMs: readonly number[]): CommitTimes {
  const sorted = [...tookMs].sort((one, other) => one - other);
  // So many of them took this long at the most: of a hundred writes one may be slower than p99.
  const at = (part: number): number => rounded(sorted[Math.ceil(sorted.length * part) - 1]!);
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), slowestMs: at(1) };
}

export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
