import type { UpgradeOptions } from './handle.js';
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
} from './option-rules.js';

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
  /** A text for people. `inspect`, events and the lock doctor show it. */
  readonly label?: string;
}

export const MAX_LABEL_LENGTH = 200;

const mustBeText = must('a string', (value) => typeof value === 'string');

export const ACQUIRE_RULES = {
  mode: mustBeOneOf(LOCK_MODES),
  waitMs: mustBeMilliseconds(0),
  signal: (value: unknown) => (isAbortSignal(value) ? undefined : `must be an AbortSignal, not a ${typeof value}`),
  leaseMs: mustBeMillisecondsAboveZero(),
  reentrant: MUST_BE_BOOLEAN,
  maxWaiting: MUST_BE_COUNT_OR_INFINITY,
  label: (value: unknown) => mustBeText(value) ?? mistakeInLength(value as string),
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
}

export function checkUpgradeOptions(options: UpgradeOptions, key: string): void {
  checkIsObject('options:', options, '', key);
  checkOptions(options, UPGRADE_RULES, key);
}

export function checkGraceMs(graceMs: number): void {
  checkOption('graceMs', graceMs, ACQUIRE_RULES.waitMs);
}

export function checkLeaseMs(leaseMs: number, key: string): void {
  checkOption('leaseMs', leaseMs, ACQUIRE_RULES.leaseMs, key);
}
