import { type AsJson, withJson } from '../../lock/json.js';
import type { PastHold, PastHoldJson } from '../../lock/past-hold.js';

export interface LockHistoryFacts {
  readonly key: string;
  /** The last one first. */
  readonly holds: readonly PastHold[];
  /** This many holds of the key, and of those that are kept beside it, could not be written down in time. */
  readonly dropped: number;
}

/** A history in JSON. */
export interface LockHistoryJson extends Omit<LockHistoryFacts, 'holds'> {
  readonly holds: readonly PastHoldJson[];
}

/** The last holds of a key, where the option `history` was on. `JSON.stringify` accepts it. */
export interface LockHistory extends LockHistoryFacts, AsJson<LockHistoryJson> {}

export function lockHistory(facts: LockHistoryFacts): LockHistory {
  return withJson<LockHistoryFacts, LockHistoryJson>(facts, historyJson);
}

function historyJson(this: LockHistoryFacts): LockHistoryJson {
  return { ...this, holds: this.holds.map((hold) => hold.toJSON()) };
}
