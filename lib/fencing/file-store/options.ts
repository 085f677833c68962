import { LockConfigurationError } from '../../lock/errors.js';
import { checkSettings } from '../checks.js';
import type { FenceSettings } from '../fence.js';

export interface FencedFileStoreOptions extends FenceSettings {
  /** The folder of the store, on a file system that one kernel has mounted. It is made if it is missing. */
  readonly root: string;
  /** Takes a file system that several hosts can mount: you know that it appends atomically for all of them. @default false */
  readonly trustFileSystem?: boolean;
  /** The mode of the files that the store makes, whatever the umask is. Existing files keep theirs. @default 0o600 */
  readonly fileMode?: number;
  /** The mode of the folders that the store makes, the root included; 0o2770 gives them the group of the root. @default 0o700 */
  readonly folderMode?: number;
  /** Called with the error when a call is refused because the journal of its file is damaged: log it. Its own errors are ignored. */
  readonly onDamage?: (error: LockConfigurationError) => void;
}

/** The rights on the files and folders that the store makes. */
export interface Modes {
  readonly file: number;
  readonly folder: number;
}

/** A journal has the tokens that keep stale writers out, and whoever can change it can change them: only the owner may read it. */
export const PRIVATE: Modes = { file: 0o600, folder: 0o700 };

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
