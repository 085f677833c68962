import { InvalidLockKeyError } from '../lock/errors.js';
import { parseNodeName } from '../queue/node-name.js';
import { checkPath } from '../session/paths.js';

/** The sessions' own nodes live there. */
const RESERVED = '.sessions';

/** @returns the first segment that the nodes of a queue, or of the sessions themselves, may be called */
export function reservedSegment(path: string): string | undefined {
  return path.split('/').find((segment) => segment === RESERVED || parseNodeName(segment) !== undefined);
}

/**
 * Refuses what cannot be a key, before any I/O.
 * @throws InvalidLockKeyError
 */
export function checkKey(key: string): void {
  if (typeof key !== 'string') throw new InvalidLockKeyError(`A lock key must be a string, not ${typeof key}`);
  const shown = key.length > 200 ? `${key.slice(0, 200)}...` : key;
  if (key === '/' || checkPath(key) !== undefined) {
    throw new InvalidLockKeyError(
      `Not a lock key: ${JSON.stringify(shown)}. A key is an absolute path such as "/locks/orders/42", without empty, ` +
        '"." or ".." segments, control characters or emoji; encodeURIComponent() makes any text a segment',
      key,
    );
  }
  const segment = reservedSegment(key);
  if (segment === undefined) return;
  throw new InvalidLockKeyError(
    `Not a lock key: ${JSON.stringify(shown)}. The segment ${JSON.stringify(segment)} is what the nodes of a queue, ` +
      'or of the sessions themselves, are called; choose another name',
    key,
  );
}
