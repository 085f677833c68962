import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessCode } from './disk.js';

/** The longest name that file systems take, in bytes. */
const MAX_LENGTH = 255;
/** Begins the name of a folder that is a digest. No other folder has a `=` in its name: it is encoded there. */
const DIGEST = 'sha256=';

/** The file that has the name of the resource, in a folder whose own name does not tell it. */
export const NAME_FILE = 'name';

export interface FolderName {
  readonly folder: string;
  /** The name that must be kept inside the folder, as its own name does not tell it. */
  readonly nameInside?: string;
}

/**
 * The folder of a resource: one segment of a path, whatever the resource is called (check-resource.ts). No slash is left, `.`
 * and `..` are nothing but text, and no name begins with a dot: such names are the store's own. Capitals are written by
 * their numbers, as some file systems take `A` and `a` for the same. A name that is too long then becomes its digest.
 */
export function folderNameOf(resource: string): FolderName {
  const encoded = encode(resource);
  if (encoded.length <= MAX_LENGTH) return { folder: encoded };
  return { folder: `${DIGEST}${createHash('sha256').update(resource).digest('hex')}`, nameInside: resource };
}

/** The resource of a folder; undefined for a folder that is none of a file. */
export async function resourceOf(root: string, folder: string): Promise<string | undefined> {
  const resource = folder.startsWith(DIGEST)
    ? await unlessCode(['ENOENT', 'ENOTDIR'], readFile(join(root, folder, NAME_FILE), 'utf8'))
    : decode(folder);
  return resource !== undefined && folderNameOf(resource).folder === folder ? resource : undefined;
}

function encode(resource: string): string {
  return encodeURIComponent(resource).replace(/%..|[A-Z]|^\./g, (part) => {
    return part.length > 1 ? part : `%${part.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

function decode(folder: string): string | undefined {
  try {
    return decodeURIComponent(folder);
  } catch {
    return undefined;
  }
}
