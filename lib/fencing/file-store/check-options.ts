import { LockConfigurationError } from '../../lock/errors.js';
import { checkSettings } from '../checks.js';
import { PRIVATE } from './directories.js';
import type { FencedFileStoreOptions } from './fenced-file-store.js';

/** @throws LockConfigurationError that names the option and what was expected */
export function checkOptions(options: FencedFileStoreOptions): void {
  checkSettings('FencedFileStore', options, ['root', 'trustFileSystem', 'fileMode', 'folderMode', 'onDamage']);
  const { root, trustFileSystem, fileMode, folderMode, onDamage } = options;
  if (typeof root !== 'string' || root === '' || root.includes('\0')) refuse('root: must be the path of a folder');
  if (trustFileSystem !== undefined && typeof trustFileSystem !== 'boolean') {
    refuse('trustFileSystem: must be true or false');
  }
  if (onDamage !== undefined && typeof onDamage !== 'function') refuse('onDamage: must be a function of the error');
  checkMode('fileMode', fileMode, PRIVATE.file, 0o777);
  checkMode('folderMode', folderMode, PRIVATE.folder, 0o2777);
}

/** Without the rights of its owner the store could not open what it has made. */
function checkMode(name: string, mode: number | undefined, least: number, most: number): void {
  if (mode === undefined) return;
  if (Number.isInteger(mode) && (mode & least) === least && (mode | most) === most) return;
  refuse(`${name}: must be a number such as ${octal(least)}, which the owner needs; ${octal(most)} has all others`);
}

function octal(mode: number): string {
  return `0o${mode.toString(8)}`;
}

function refuse(what: string): never {
  throw new LockConfigurationError(`FencedFileStore: ${what}`);
}
