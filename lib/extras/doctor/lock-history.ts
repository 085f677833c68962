import { type AsJson, withJson } from '../../lock/json.js';
import type { PastHold, PastHoldJson } from '../../lock/past-hold.js';

export interface LockHistoryFacts {
  readonly key: string;
  /** The last one first. */
  readonly holds: readonly PastHold[];
}

/** A history in JSON. */
export interface LockHistoryJson {
  readonly key: string;
  readonly holds: readonly PastHoldJson[];
}

/** The last holds of a key, where the option `history` was on. `JSON.stringify` accepts it. */
export interface LockHistory extends LockHistoryFacts, AsJson<LockHistoryJson> {}

export function lockHistory(facts: LockHistoryFacts): LockHistory {
  return withJson<LockHistoryFacts, LockHistoryJson>(facts, historyJson);
}

function historyJson(this: LockHistoryFacts): LockHistoryJson {
  return { key: this.key, holds: this.holds.map((hold) => hold.toJSON()) };
}
