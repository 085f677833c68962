import { ABANDONED_POLICIES, type AbandonedPolicy } from './abandoned.js';
import type { LockHandle, UpgradeOptions } from './handle.js';
import { LockConfigurationError } from './errors.js';
import { LOCK_MODES, type LockMode } from './mode.js';
import {
  checkIsObject,
  checkOption,
  checkOptions,
  must,
  MUST_BE_BOOLEAN,
  MUST_BE_COUNT_OR_INFINITY,
  mustBeMilliseconds,
  mustBeMillisecondsAboveZero,
  mustBeOneOf,
  refuse,
} from './option-rules.js';
import { shown } from './shown.js';

/** The options of one call. Everything else belongs to the module. */
export interface AcquireOptions {
  /**
   * How the lock is held. `exclusive` and `write`: nobody else is inside. `read`: other readers may be inside.
   * `upgradeable`: readers may be inside, and `upgrade()` makes the holder a writer.
   * @default 'exclusive'
   */
  readonly mode?: LockMode;
  /**
   * How long to wait for the lock, in milliseconds. 0 tries once: the call then waits only for ZooKeeper's answer, for
   * a second at the most. `tryAcquire` always tries once; there this option is the time for the answer.
   * @default the module's `waitMs`; 1000 for `tryAcquire`
   */
  readonly waitMs?: number;
  /** Ends the wait. It does not end the hold. */
  readonly signal?: AbortSignal;
  /**
   * The longest time that the lock is held without an `extend`, in milliseconds. A nested call that shares the lock may
   * bring a lease of its own, which ends with that call: of several leases the first to end counts. @default no limit
   */
  readonly leaseMs?: number;
  /**
   * Whether a call that runs under this key's lock already shares that lock; with false it is refused. @default true
   */
  readonly reentrant?: boolean;
  /**
   * How many may be ahead when the call joins the queue: where there are more, it fails with a LockQueueFullError at
   * once, and nothing is written. Those who hold the lock together are one, and each that waits in front of the call,
   * and that it would have to wait for, is one more. So with 0 the call does not wait behind anybody, and of exclusive
   * locks `maxWaiting` is how many wait at the most. It is exact among the callers of one process that set it, and
   * approximate between processes. A call that tries once does not wait anyway, and is not refused by it; nor is
   * re-entry. Infinity takes a bound of the module's away.
   * @default the module's `maxWaiting`
   */
  readonly maxWaiting?: number;
  /**
   * For so many milliseconds after this hold has begun the key is busy to all, also when the lock is released sooner, or
   * the holder dies. So a job that every instance starts by its own clock runs once, where this is more than the clocks
   * differ, and less than lies between two starts. The servers' clock decides. It is for `exclusive` and `write`.
   * @default nothing
   */
  readonly atLeastMs?: number;
  /**
   * What to do where the last holder vanished inside, and what those who come after this holder do if it vanishes: the
   * stricter of the two counts. Such holders say in the key's node that they are inside, which costs two round trips.
   * @default 'delay' where the module has a `lockDelayMs`; else nothing is written, and nobody is told
   */
  readonly onAbandoned?: AbandonedPolicy;
  /**
   * With `onAbandoned: 'recover'`: repairs what a holder that vanished has left (`lock.abandoned` says what is known of
   * it). It runs under the lock, before the call has it. If it fails, the lock is released, the call fails with the same
   * error, and the next one recovers. It must be safe to repeat: the one that recovers may die, too.
   */
  readonly recover?: (lock: LockHandle) => unknown;
  /** A text for people. `inspect`, events and the lock doctor show it. */
  readonly label?: string;
  /**
   * What kind of key this is, for metrics, traces and events: keys are many, templates few.
   * @default the path that `@Locked` was given; nothing for other calls
   */
  readonly template?: string;
}

export const MAX_LABEL_LENGTH = 200;
const MAX_CHECKPOINT_BYTES = 8 * 1024;

const mustBeText = must('a string', (value) => typeof value === 'string');

export const ACQUIRE_RULES = {
  mode: mustBeOneOf(LOCK_MODES),
  waitMs: mustBeMilliseconds(0),
  signal: (value: unknown) => (isAbortSignal(value) ? undefined : `must be an AbortSignal, not a ${typeof value}`),
  leaseMs: mustBeMillisecondsAboveZero(),
  reentrant: MUST_BE_BOOLEAN,
  maxWaiting: MUST_BE_COUNT_OR_INFINITY,
  atLeastMs: mustBeMillisecondsAboveZero(),
  onAbandoned: mustBeOneOf(ABANDONED_POLICIES),
  recover: must('a function of the lock', (value) => typeof value === 'function'),
  label: (value: unknown) => mustBeText(value) ?? mistakeInLength(value as string),
  template: (value: unknown) => mustBeText(value) ?? mistakeInLength(value as string),
};
const UPGRADE_RULES = { waitMs: ACQUIRE_RULES.waitMs, signal: ACQUIRE_RULES.signal };

function mistakeInLength({ length }: string): string | undefined {
  return length > MAX_LABEL_LENGTH ? `must be ${MAX_LABEL_LENGTH} characters at most, not ${length}` : undefined;
}

/** The class is not checked, because a signal may come from a polyfill or from another realm. */
function isAbortSignal(value: unknown): boolean {
  const { aborted, addEventListener, removeEventListener } = (value ?? {}) as Partial<AbortSignal>;
  return (
    typeof aborted === 'boolean' && typeof addEventListener === 'function' && typeof removeEventListener === 'function'
  );
}

/** @throws LockConfigurationError that names the option and what was expected */
export function checkAcquireOptions(options: AcquireOptions, key?: string): void {
  checkIsObject('options:', options, '', key);
  checkOptions(options, ACQUIRE_RULES, key);
  checkRecordOptions(options, key);
}

/** What of the key's record does not go together. Most calls use none of it. */
function checkRecordOptions({ mode, atLeastMs, onAbandoned, recover }: AcquireOptions, key?: string): void {
  const isWriter = mode === undefined || mode === 'exclusive' || mode === 'write';
  if (atLeastMs !== undefined && !isWriter) refuse(`atLeastMs: is for exclusive and write, not for ${mode}`, key);
  if ((onAbandoned === 'recover') !== (recover !== undefined))
    refuse("recover: belongs to onAbandoned: 'recover', and that to a recover function", key);
  if (recover !== undefined && !isWriter)
    refuse(`onAbandoned: 'recover' is for exclusive and write: who holds as ${mode} may repair nothing`, key);
}

export function checkUpgradeOptions(options: UpgradeOptions, key: string): void {
  checkIsObject('options:', options, '', key);
  checkOptions(options, UPGRADE_RULES, key);
}

export function checkGraceMs(graceMs: number): void {
  checkOption('graceMs', graceMs, ACQUIRE_RULES.waitMs);
}

/** @throws LockConfigurationError for what JSON cannot say, or takes too long to say */
export function checkCheckpoint(data: unknown, key: string): void {
  let text: string | undefined;
  try {
    text = JSON.stringify(data);
  } catch (cause) {
    throw new LockConfigurationError(`checkpoint: ${(cause as Error).message}`, key, { cause });
  }
  if (text === undefined) refuse(`checkpoint: must be data that JSON can say, not ${shown(data)}`, key);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_CHECKPOINT_BYTES)
    refuse(
      `checkpoint: must be ${MAX_CHECKPOINT_BYTES} bytes of JSON at most, not ${bytes}: write down where the rest is`,
      key,
    );
}

export function checkLeaseMs(leaseMs: number, key: string): void {
  checkOption('leaseMs', leaseMs, ACQUIRE_RULES.leaseMs, key);
}
