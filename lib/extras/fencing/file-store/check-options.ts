import { LockConfigurationError } from '../../../lock/errors.js';
import { checkSettings } from '../check-settings.js';
import type { FencedFileStoreOptions } from './fenced-file-store.js';

/** @throws LockConfigurationError that names the option and what was expected */
export function checkOptions(options: FencedFileStoreOptions): void {
  checkSettings('FencedFileStore', options, ['root', 'trustFileSystem']);
  const { root, trustFileSystem } = options;
  if (typeof root !== 'string' || root === '' || root.includes('\0')) refuse('root: must be the path of a folder');
  if (trustFileSystem !== undefined && typeof trustFileSystem !== 'boolean') {
    refuse('trustFileSystem: must be true or false');
  }
}

function refuse(what: string): never {
  throw new LockConfigurationError(`FencedFileStore: ${what}`);
}
