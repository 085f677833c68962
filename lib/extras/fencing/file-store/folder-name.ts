import { InvalidLockKeyError } from '../../../lock/errors.js';

/** What file systems take for one name, in bytes. */
const MAX_LENGTH = 255;

/**
 * The folder of a resource: one segment of a path, whatever the resource is called. No slash is left, `.` and `..` are
 * nothing but text, and no name begins with a dot: such names are the store's own. Capitals are written by their numbers,
 * as there are file systems that take `A` and `a` for the same. `decodeURIComponent` gives the resource back.
 * @throws InvalidLockKeyError
 */
export function folderNameOf(resource: string): string {
  const encoded = encode(resource);
  if (encoded !== '' && encoded.length <= MAX_LENGTH) return encoded;
  throw new InvalidLockKeyError(
    `The name of a file must have 1 to ${MAX_LENGTH} characters when it is URL-encoded (capitals too), not ` +
      `${encoded.length}. Choose a shorter one, or use a digest of it`,
    resource,
  );
}

function encode(resource: string): string {
  try {
    return encodeURIComponent(resource).replace(/%..|[A-Z]|^\./g, (part) => (part.length > 1 ? part : numberOf(part)));
  } catch (error) {
    throw new InvalidLockKeyError('The name of a file is no Unicode text: it has half of a surrogate pair', resource, {
      cause: error,
    });
  }
}

function numberOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
