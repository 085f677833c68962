import { LockConfigurationError } from '../../../lock/errors.js';
import { checkPath } from '../../../session/paths.js';

/** Nodes of queues, and those of the sessions themselves. */
const RESERVED = /^(?:\.sessions|.*(?:lock-|__)\d{10})$/;
/** A request takes a megabyte, with the paths and all. */
const MAX_DATA_BYTES = 1_000_000;

/** The node as the session knows it. @throws LockConfigurationError for a path that cannot keep data, before any I/O */
export function dataPath(namespace: string, path: string): string {
  const full = `${namespace}${String(path)}`;
  const refused = typeof path !== 'string' || path === '/' ? undefined : checkPath(full);
  if (typeof path === 'string' && path !== '/' && path.startsWith('/') && refused === undefined) {
    const reserved = path.split('/').find((segment) => RESERVED.test(segment));
    if (reserved === undefined) return full;
    throw new LockConfigurationError(`Not a path for data: ${path}. ${reserved} is what nodes of locks are called`);
  }
  throw new LockConfigurationError(
    `Not a path for data: ${JSON.stringify(path)}. It is absolute, such as "/settings/prices", without empty, "." or ` +
      '".." segments, control characters or emoji',
  );
}

/**
 * The nodes of queues are containers: the servers remove them, with their data, when nobody has queued for a while. A
 * server does not tell which nodes are, so this knows only the lock at hand.
 * @throws LockConfigurationError
 */
export function refuseQueue(path: string, key: string): void {
  if (key !== path && !key.startsWith(`${path}/`)) return;
  throw new LockConfigurationError(
    `${path} belongs to the queue of the lock ${key}, which the servers remove when it is empty: keep data elsewhere`,
    key,
  );
}

/** @throws LockConfigurationError for more than a request takes */
export function dataBytes(path: string, data: string | Uint8Array): Uint8Array {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  if (bytes.length <= MAX_DATA_BYTES) return bytes;
  throw new LockConfigurationError(
    `${bytes.length} bytes for ${path}: ZooKeeper takes up to a megabyte in a request, and data that is read often ` +
      `should be small. At most ${MAX_DATA_BYTES} bytes; keep more in another store`,
  );
}
