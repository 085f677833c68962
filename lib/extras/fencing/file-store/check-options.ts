import { LockConfigurationError } from '../../../lock/errors.js';
import { VerificationKeys } from '../keys/verification-keys.js';
import type { FencedFileStoreOptions } from './fenced-file-store.js';

const KNOWN: readonly (keyof FencedFileStoreOptions)[] = ['root', 'trustFileSystem', 'keys', 'lockKey'];

/**
 * An option with its name misspelt would be an option that is not there: a store without keys takes any number.
 * @throws LockConfigurationError that names the option and what was expected
 */
export function checkOptions(options: FencedFileStoreOptions): void {
  if (typeof options !== 'object' || options === null) refuse('the options must be an object such as { root }');
  const unknown = Object.keys(options).find((name) => !(KNOWN as readonly string[]).includes(name));
  if (unknown !== undefined) refuse(`${unknown}: is no option (there are: ${KNOWN.join(', ')})`);
  const { root, trustFileSystem, keys, lockKey } = options;
  if (typeof root !== 'string' || root === '' || root.includes('\0')) refuse('root: must be the path of a folder');
  if (trustFileSystem !== undefined && typeof trustFileSystem !== 'boolean') {
    refuse('trustFileSystem: must be true or false');
  }
  if (keys !== undefined && !(keys instanceof VerificationKeys)) {
    refuse('keys: must be made with new VerificationKeys(...) or new SigningKeys(...)');
  }
  if (lockKey !== undefined && typeof lockKey !== 'function') {
    refuse('lockKey: must be a function that gives the key of the lock of a resource');
  }
}

function refuse(what: string): never {
  throw new LockConfigurationError(`FencedFileStore: ${what}`);
}
