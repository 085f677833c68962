import { type AbandonedPolicy, ABANDONED_POLICIES } from '../../../lib/lock/abandoned.js';
import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import type { LockMode } from '../../../lib/lock/mode.js';
import { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import { hasUpgrades } from './client-under-test.js';
import { mayWrite } from './queue-rules.js';

/** How the callers of a schedule use the records of their keys. */
export interface RecordUse {
  /** The part of the calls that ask for something; the others meet them at the same keys. */
  readonly part: number;
  readonly policies: readonly AbandonedPolicy[];
  /** 0: nobody asks for it. */
  readonly atLeastMs: number;
}

/** What one call asks of the record of its key. */
export interface RecordWish {
  readonly policy: AbandonedPolicy | undefined;
  readonly atLeastMs: number | undefined;
}

const MIXES: readonly (readonly AbandonedPolicy[])[] = [
  ['enter'],
  ['recover'],
  ['enter', 'recover', 'recover'],
  ['enter', 'enter', 'recover', 'hold'],
];

/** Drawn from a source of its own, so all other schedules are those that they were before there were records. */
export function drawRecordUse(seed: number, sessionTimeoutMs: number): RecordUse | undefined {
  const random = new SeededRandom(seed).fork('record');
  // With the client native these options are refused, as its sessions have no transactions.
  if (!hasUpgrades || random.next() >= 0.3) return undefined;
  return {
    part: [0.4, 0.7, 1][random.integer(3)]!,
    policies: MIXES[random.integer(MIXES.length)]!,
    atLeastMs: random.next() < 0.4 ? Math.ceil(sessionTimeoutMs * (0.1 + 1.4 * random.next())) : 0,
  };
}

/** @returns undefined for a call that asks for nothing */
export function drawWish(
  use: RecordUse,
  lockDelayMs: number,
  mode: LockMode,
  random: SeededRandom,
): RecordWish | undefined {
  if (random.next() >= use.part) return undefined;
  const policies = lockDelayMs > 0 ? [...use.policies, 'delay' as const] : use.policies;
  const isWriter = mayWrite(mode) && mode !== 'upgradeable';
  const drawn = policies[random.integer(policies.length)]!;
  const atLeastMs = isWriter && use.atLeastMs > 0 && random.next() < 0.6 ? use.atLeastMs : undefined;
  const policy = drawn === 'recover' && !isWriter ? 'enter' : drawn;
  return { atLeastMs, policy: atLeastMs !== undefined && random.next() < 0.3 ? undefined : policy };
}

/** The options of a call with this wish. */
export function optionsOf(
  { policy, atLeastMs }: RecordWish,
  label: string,
  recover: NonNullable<AcquireOptions['recover']>,
): AcquireOptions {
  return {
    label,
    ...(policy === undefined ? {} : { onAbandoned: policy }),
    ...(policy === 'recover' ? { recover } : {}),
    ...(atLeastMs === undefined ? {} : { atLeastMs }),
  };
}

/** Written a second time, not imported: a checker must not share the mistakes of what it checks. */
export function strictest(...policies: readonly AbandonedPolicy[]): AbandonedPolicy {
  return ABANDONED_POLICIES[Math.max(...policies.map((policy) => ABANDONED_POLICIES.indexOf(policy)))]!;
}
