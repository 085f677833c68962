import { LOSS_REASONS, type LossReason } from './events.js';
import { type AsJson, type JsonOf, withJson } from './json.js';
import type { LockMode } from './mode.js';

/** How a hold ended: it was released, or lost for one of these reasons. */
export type HoldEnd = 'released' | LossReason;

export const HOLD_ENDS: readonly HoldEnd[] = ['released', ...LOSS_REASONS];

/** What is kept of holds that have ended. */
export interface HistoryOptions {
  /** How many holds of each key are kept, the last ones; from 1 to 100. Fewer are where the keys beside it need the room. */
  readonly keep: number;
  /** Only holds that took longer than this are kept, in milliseconds. @default 0, all of them */
  readonly overMs?: number;
}

export interface PastHoldFacts {
  readonly token: bigint;
  readonly mode: LockMode;
  readonly label: string | undefined;
  readonly host: string | undefined;
  readonly pid: number | undefined;
  /** When the hold began, by the wall clock of the process that held. */
  readonly since: Date;
  readonly waitedMs: number;
  readonly heldMs: number;
  readonly ended: HoldEnd;
}

/** A past hold in JSON: its token as digits, its date as ISO text. */
export type PastHoldJson = JsonOf<PastHoldFacts>;

/** A hold that has ended. `JSON.stringify` accepts it. */
export interface PastHold extends PastHoldFacts, AsJson<PastHoldJson> {}

export function pastHold(facts: PastHoldFacts): PastHold {
  return withJson(facts);
}
