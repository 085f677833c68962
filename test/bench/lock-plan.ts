import type { ContestantName } from './contestants.js';
import { type Scenario, WARMED_FOR_MS } from './lock-scenarios.js';
import { type Stage, STAGES } from './lock-stages.js';

export const ROUNDS = 7;
/** Before the first round, these do not count: compilers and caches warm up. */
const WARM_UP_ROUNDS = 3;
/** Servers, and up to eighteen processes of contestants. */
const STAGE_STARTS_WITHIN_MS = 15_000;
/** A turn is longer than its time: what was begun is finished. */
const TURN_OVERRUN = 1.1;

/** What is asked for: the beginnings of names, so that `three` means both stages of three servers. */
export interface Selection {
  readonly stage?: string | undefined;
  readonly scenario?: string | undefined;
  readonly rounds?: number | undefined;
}

export interface LockPlan {
  readonly rounds: number;
  readonly warmUpRounds: number;
  readonly parts: readonly { readonly stage: Stage; readonly scenarios: readonly Scenario[] }[];
}

/** Throws, with what there is, where nothing is called so. */
export function planLocks({ stage = '', scenario = '', rounds = ROUNDS }: Selection): LockPlan {
  const stages = named('stage', stage, STAGES);
  const known = stages.flatMap(({ scenarios }) => scenarios);
  const chosen = new Set(named('scenario', scenario, known).map(({ name }) => name));
  const parts = stages.map((one) => ({
    stage: one,
    scenarios: one.scenarios.filter(({ name }) => chosen.has(name)),
  }));
  return {
    rounds,
    warmUpRounds: Math.min(WARM_UP_ROUNDS, rounds),
    parts: parts.filter(({ scenarios }) => scenarios.length > 0),
  };
}

export function contestantsOf({ parts }: LockPlan): ReadonlySet<ContestantName> {
  return new Set(parts.flatMap(({ scenarios }) => scenarios.flatMap(({ contestants }) => contestants)));
}

/** On a machine that does nothing else. */
export function lockSeconds({ parts, rounds, warmUpRounds }: LockPlan): number {
  const turns = parts.flatMap(({ scenarios }) =>
    scenarios.map(
      ({ contestants, durationMs, processes, alsoWarmedBy, extraWarmUpRounds = 0 }) =>
        contestants.length *
        (durationMs * (rounds + warmUpRounds + extraWarmUpRounds) + (alsoWarmedBy ? WARMED_FOR_MS * processes : 0)),
    ),
  );
  const playMs = turns.reduce((sum, ms) => sum + ms, 0) * TURN_OVERRUN;
  return (playMs + parts.length * STAGE_STARTS_WITHIN_MS) / 1_000;
}

function named<T extends { readonly name: string }>(
  what: string,
  beginning: string,
  among: readonly T[],
): readonly T[] {
  const found = among.filter(({ name }) => name.startsWith(beginning));
  if (found.length > 0) return found;
  const names = [...new Set(among.map(({ name }) => name))].join(', ');
  throw new Error(`There is no ${what} '${beginning}'. There are: ${names}`);
}
