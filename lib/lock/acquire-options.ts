import { LockConfigurationError } from './errors.js';
import type { UpgradeOptions } from './handle.js';
import { LOCK_MODES, type LockMode } from './mode.js';
import { shown } from './shown.js';
import { describeUnknownOption } from './unknown-option.js';

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
  /** A text for people. `inspect`, events and the lock doctor show it. */
  readonly label?: string;
}

const KNOWN: readonly (keyof AcquireOptions)[] = ['mode', 'waitMs', 'signal', 'leaseMs', 'reentrant', 'label'];
const OF_UPGRADE: readonly (keyof UpgradeOptions)[] = ['waitMs', 'signal'];
const MAX_LABEL_LENGTH = 200;

/** @throws LockConfigurationError that names the option and what was expected */
export function checkAcquireOptions(options: AcquireOptions, key?: string, known: readonly string[] = KNOWN): void {
  if (typeof options !== 'object' || options === null)
    refuse('options', `must be an object, not ${shown(options)}`, key);
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) refuse(name, describeUnknownOption(name, known), key);
  }
  const { mode, waitMs, leaseMs, label, signal, reentrant } = options;
  if (mode !== undefined && !LOCK_MODES.includes(mode)) {
    refuse('mode', `must be one of ${LOCK_MODES.join(', ')}, not ${shown(mode)}`, key);
  }
  if (waitMs !== undefined && !(Number.isFinite(waitMs) && waitMs >= 0)) {
    refuse('waitMs', `must be a number of milliseconds, 0 or more, not ${shown(waitMs)}`, key);
  }
  if (leaseMs !== undefined) checkLeaseMs(leaseMs, key);
  if (label !== undefined && typeof label !== 'string') refuse('label', `must be a string, not ${shown(label)}`, key);
  if (label !== undefined && label.length > MAX_LABEL_LENGTH) {
    refuse('label', `must be ${MAX_LABEL_LENGTH} characters at most, not ${label.length}`, key);
  }
  // The class is not checked, because a signal may come from a polyfill or from another realm.
  if (signal !== undefined && !isAbortSignal(signal)) {
    refuse('signal', `must be an AbortSignal, not a ${typeof signal}`, key);
  }
  if (reentrant !== undefined && typeof reentrant !== 'boolean') {
    refuse('reentrant', `must be true or false, not ${shown(reentrant)}`, key);
  }
}

export function checkUpgradeOptions(options: UpgradeOptions, key: string): void {
  checkAcquireOptions(options, key, OF_UPGRADE);
}

export function checkGraceMs(graceMs: number): void {
  if (!(Number.isFinite(graceMs) && graceMs >= 0)) {
    refuse('graceMs', `must be a number of milliseconds, 0 or more, not ${shown(graceMs)}`, undefined);
  }
}

export function checkLeaseMs(leaseMs: number, key?: string): void {
  if (!(Number.isFinite(leaseMs) && leaseMs > 0)) {
    refuse('leaseMs', `must be a number of milliseconds above 0, not ${shown(leaseMs)}`, key);
  }
}

function isAbortSignal(value: Partial<AbortSignal> | null): boolean {
  return (
    typeof value?.aborted === 'boolean' &&
    typeof value.addEventListener === 'function' &&
    typeof value.removeEventListener === 'function'
  );
}

function refuse(option: string, what: string, key: unknown): never {
  // Options are checked before the key is, which may be none either.
  throw new LockConfigurationError(`${option}: ${what}`, typeof key === 'string' ? key : undefined);
}
