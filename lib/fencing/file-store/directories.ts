import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

/** The rights on the files and folders that the store makes. */
export interface Modes {
  readonly file: number;
  readonly folder: number;
}

/** A journal has the tokens that keep stale writers out, and whoever can change it can change them: only the owner may read it. */
export const PRIVATE: Modes = { file: 0o600, folder: 0o700 };

/** After this, all that was made, linked or renamed in the folder outlasts a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Makes a folder, and those above it where they are missing, so that they last. One that is there keeps its mode. */
export async function makeDirectory(path: string, mode = PRIVATE.folder): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode });
  if (first === undefined) return;
  await chmod(path, mode);
  let folder = dirname(first);
  await syncDirectory(folder);
  for (const name of relative(folder, dirname(path)).split(sep)) {
    folder = join(folder, name);
    await syncDirectory(folder);
  }
}

export async function exists(path: string): Promise<boolean> {
  return (await unlessMissing(lstat(path))) !== undefined;
}

export async function unlessMissing<T>(doing: Promise<T>): Promise<T | undefined> {
  return unlessCode(['ENOENT'], doing);
}

/** Resolves with undefined instead of an error with one of these codes, which mean that there is nothing to do. */
export async function unlessCode<T>(codes: readonly string[], doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing;
  } catch (error) {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
