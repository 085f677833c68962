import type { AsJson } from './json.js';

/**
 * What a call does where the last holder of the key vanished inside, without a release: its process died, or lost the lock.
 *
 * - `enter`: it enters, and `LockHandle.abandoned` tells
 * - `delay`: it waits for the module's `lockDelayMs` first
 * - `recover`: its `recover` function runs under the lock first, and only then the call has it
 * - `hold`: the key stays closed until somebody clears it (`clear` of the lock doctor)
 *
 * The holder that vanished had a policy of its own. Both count, so the stricter one decides.
 */
export type AbandonedPolicy = 'enter' | 'delay' | 'recover' | 'hold';

/** From the most lenient to the strictest. */
export const ABANDONED_POLICIES: readonly AbandonedPolicy[] = ['enter', 'delay', 'recover', 'hold'];

/** A writing holder that vanished, as it described itself. */
export interface VanishedHolder {
  readonly host: string | undefined;
  readonly pid: number | undefined;
  /** The label of its call: of a decorated method its name. */
  readonly label: string | undefined;
  readonly token: bigint;
  /** When it asked for the lock, by the servers' wall clock. */
  readonly since: Date;
  /** What it passed to its last `checkpoint`; undefined where it made none. */
  readonly checkpoint: unknown;
}

/** A holder that vanished in JSON: its token as digits, its date as ISO text. */
export interface VanishedHolderJson extends Omit<VanishedHolder, 'token' | 'since'> {
  readonly token: string;
  readonly since: string;
}

export interface AbandonedFacts extends VanishedHolder {
  /** The one that entered after it and vanished as well, before it had recovered or released; undefined where there is none. */
  readonly recoverer: VanishedHolder | undefined;
}

export interface AbandonedLockJson extends VanishedHolderJson {
  readonly recoverer: VanishedHolderJson | undefined;
}

/** What was left behind by the holder that vanished. `JSON.stringify` accepts it. */
export interface AbandonedLock extends AbandonedFacts, AsJson<AbandonedLockJson> {}

/** The stricter of two policies. */
export function stricter(one: AbandonedPolicy, other: AbandonedPolicy): AbandonedPolicy {
  return ABANDONED_POLICIES.indexOf(one) >= ABANDONED_POLICIES.indexOf(other) ? one : other;
}
