import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessCode } from './directories.js';

/** What file systems take for one name, in bytes. */
const MAX_LENGTH = 255;
/** No name that is written out has `=` in it: it is encoded. */
const DIGEST = 'sha256=';

/** In a folder whose name does not tell it: what the file is called. */
export const NAME_FILE = 'name';

export interface FolderName {
  readonly folder: string;
  /** Must be kept in the folder. */
  readonly nameInside?: string;
}

/**
 * The folder of a resource: one segment of a path, whatever the resource is called (check-resource.ts). No slash is left, `.`
 * and `..` are nothing but text, and no name begins with a dot: such names are the store's own. Capitals are written by
 * their numbers, as there are file systems that take `A` and `a` for the same. What is too long then is told by its digest.
 */
export function folderNameOf(resource: string): FolderName {
  const encoded = encode(resource);
  if (encoded.length <= MAX_LENGTH) return { folder: encoded };
  return { folder: `${DIGEST}${createHash('sha256').update(resource).digest('hex')}`, nameInside: resource };
}

/** `undefined` for what is no folder of a file. */
export async function resourceOf(root: string, folder: string): Promise<string | undefined> {
  const resource = folder.startsWith(DIGEST)
    ? await unlessCode(['ENOENT', 'ENOTDIR'], readFile(join(root, folder, NAME_FILE), 'utf8'))
    : decode(folder);
  return resource !== undefined && folderNameOf(resource).folder === folder ? resource : undefined;
}

function encode(resource: string): string {
  return encodeURIComponent(resource).replace(/%..|[A-Z]|^\./g, (part) => (part.length > 1 ? part : numberOf(part)));
}

function decode(folder: string): string | undefined {
  try {
    return decodeURIComponent(folder);
  } catch {
    return undefined;
  }
}

function numberOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
