import { inspect } from 'node:util';
import { InvalidLockKeyError } from '../lock/errors.js';
import { onOneLine } from './on-one-line.js';

/** No key of a lock is longer, and a store can keep a name of this size beside the content. */
const MAX_BYTES = 4 * 1024;
const SHOWN_CHARACTERS = 80;

/** @throws InvalidLockKeyError for what cannot name a resource in every store */
export function checkResource(resource: string): void {
  const fault = faultOf(resource);
  if (fault === undefined) return;
  throw new InvalidLockKeyError(
    `Not the name of a resource: ${shown(resource)} ${fault}. It is a non-empty text, such as the key of the lock ` +
      'that protects it',
  );
}

function faultOf(resource: unknown): string | undefined {
  if (typeof resource !== 'string') return 'is no text';
  if (resource === '') return 'is empty';
  if (resource.includes('\0')) return 'has a NUL in it';
  // Stores write half a pair as the replacement character, so two names would become one.
  if (/\p{Surrogate}/u.test(resource)) return 'has half of a surrogate pair, so it is no Unicode text';
  const bytes = Buffer.byteLength(resource);
  return bytes > MAX_BYTES ? `has ${bytes} bytes, of ${MAX_BYTES} at most` : undefined;
}

function shown(resource: unknown): string {
  if (typeof resource !== 'string') return inspect(resource, { depth: 0, breakLength: Infinity });
  const start = resource.length > SHOWN_CHARACTERS ? `${resource.slice(0, SHOWN_CHARACTERS)}...` : resource;
  return onOneLine(JSON.stringify(start));
}
