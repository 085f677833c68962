import { InvalidLockKeyError } from '../lock/errors.js';
import { parseNodeName } from '../queue/node-name.js';
import { isReservedName } from '../queue/reserved-names.js';
import { checkPath } from '../session/paths.js';

/** Each segment is a node, and the first lock on a key creates them all: thousands would stall the session and its other locks. */
const MAX_SEGMENTS = 64;
const MAX_LENGTH = 4_096;

/** Keys that have been found right: most are used again and again. */
const checked = new Set<string>();
const MAX_CHECKED = 1_000;

/** @returns the first segment whose name is reserved for nodes of queues or of sessions */
export function reservedSegment(path: string): string | undefined {
  return path.split('/').find((segment) => isReservedName(segment) || parseNodeName(segment) !== undefined);
}

/**
 * Refuses what cannot be a key, before any I/O.
 * @throws InvalidLockKeyError
 */
export function checkKey(key: string): void {
  if (checked.has(key)) return;
  if (typeof key !== 'string') throw new InvalidLockKeyError(`A lock key must be a string, not ${typeof key}`);
  const why = whyNoKey(key);
  if (why === undefined) {
    if (checked.size === MAX_CHECKED) checked.clear();
    checked.add(key);
    return;
  }
  const shown = key.length > 200 ? `${key.slice(0, 200)}...` : key;
  throw new InvalidLockKeyError(`Not a lock key: ${JSON.stringify(shown)}${why}`, key);
}

function whyNoKey(key: string): string | undefined {
  if (key.length > MAX_LENGTH || (key.length > 2 * MAX_SEGMENTS && key.split('/').length > MAX_SEGMENTS + 1)) {
    return (
      ` (${key.length} characters). A key has at most ${MAX_LENGTH} characters and ${MAX_SEGMENTS} segments; hash what is ` +
      'longer'
    );
  }
  if (key === '/' || checkPath(key) !== undefined) {
    return (
      '. A key is an absolute path such as "/locks/orders/42", without empty, "." or ".." segments, control characters or ' +
      'emoji; encodeURIComponent() makes any text a segment'
    );
  }
  const segment = reservedSegment(key);
  if (segment === undefined) return undefined;
  return `. The segment ${JSON.stringify(segment)} is reserved for the nodes of queues, records and sessions; choose another name`;
}
