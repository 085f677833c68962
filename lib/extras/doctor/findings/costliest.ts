import type { CostlyKey } from '../lock-examination.js';
import { holdersOf, rowOf } from '../look/lock-row.js';
import { namedKey, type SeenContender, type SeenKey } from '../look/seen-key.js';
import type { CommandLines } from './command-lines.js';
import { duration } from './weighed.js';

const MAX_COSTLIEST = 20;

/** The keys that cost the most waiting at this moment. */
export function costliestOf(keys: readonly SeenKey[], lines: CommandLines): CostlyKey[] {
  const costly = keys.flatMap((seen) => {
    const { key, waitedMs, waiting } = rowOf(seen);
    if (waiting === 0) return [];
    const [blocker] = holdersOf(seen.contenders);
    const breakLine = blocker && breakLineOf(lines, seen, blocker);
    return [{ key, waitedMs, waiting, blocker: blocker?.snapshot, breakLine }];
  });
  return costly.sort((one, other) => other.waitedMs - one.waitedMs).slice(0, MAX_COSTLIEST);
}

/** The command that ends this hold, with what is the case as the reason. */
export function breakLineOf(lines: CommandLines, seen: SeenKey, holder: SeenContender): string {
  const { ageMs, fencingToken } = holder.snapshot;
  const { waiting } = rowOf(seen);
  return lines.break(namedKey(seen), fencingToken, `asked for it ${duration(ageMs)} ago, and ${waiting} wait`);
}
