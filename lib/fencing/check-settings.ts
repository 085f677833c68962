import { LockConfigurationError } from '../lock/errors.js';
import type { FenceSettings } from './fence.js';
import { VerificationKeys } from './signed/keys.js';

/** The names of `FenceSettings`, which every store takes beside its own. */
const SETTINGS: readonly (keyof FenceSettings)[] = ['keys', 'lockKey'];

/**
 * Checks the names of a store's options, and the options that all stores share. A store whose `keys` is misspelt would have
 * none, and take any number.
 * @param own the names of the store's own options, the one that it needs first
 * @throws LockConfigurationError that names the store, the option and what was expected
 */
export function checkSettings<Options extends FenceSettings>(
  store: string,
  options: Options,
  own: readonly Exclude<keyof Options & string, keyof FenceSettings>[],
): void {
  const refuse = (what: string): never => {
    throw new LockConfigurationError(`${store}: ${what}`);
  };
  checkNames(options, [...own, ...SETTINGS], refuse);
  checkKeys(options.keys, refuse);
  if (options.lockKey !== undefined && typeof options.lockKey !== 'function') {
    refuse('lockKey: must be a function that gives the key of the lock of a resource');
  }
}

export function checkNames(options: object, known: readonly string[], refuse: (what: string) => never): void {
  if (typeof options !== 'object' || options === null) {
    refuse(`the options must be an object such as { ${String(known[0])} }`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) refuse(`${unknown}: is not an option (the options are: ${known.join(', ')})`);
}

export function checkKeys(keys: unknown, refuse: (what: string) => never): void {
  if (keys !== undefined && !(keys instanceof VerificationKeys)) {
    refuse('keys: must be made with new VerificationKeys(...) or new SigningKeys(...)');
  }
}
