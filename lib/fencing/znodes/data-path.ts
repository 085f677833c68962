import { LockConfigurationError } from '../../lock/errors.js';
import { bytesOf } from '../checks.js';
import { checkPath } from '../../session/paths.js';
import { quoted } from '../shown.js';

/** The names of nodes in queues, and of the nodes of the sessions themselves. */
const RESERVED = /^(?:\.sessions|.*(?:lock-|__)\d{10})$/;
/** A request takes a megabyte, its paths included. */
const MAX_DATA_BYTES = 1_000_000;
const EXAMPLE = 'It is absolute, such as "/settings", without empty, "." or ".." segments, control characters or emoji';

/** @throws LockConfigurationError */
export function checkRoot(root: unknown): void {
  if (isPath(root) && reservedIn(root) === undefined) return;
  throw new LockConfigurationError(
    `FencedZnodes: root must be the path below which data is kept, and no lock has its key; not ${quoted(root)}. ` +
      EXAMPLE,
  );
}

/**
 * The node as the session knows it.
 * @param base the namespace, and the root in it
 * @throws LockConfigurationError for a path that cannot keep data, before any I/O
 */
export function dataPath(base: string, path: string): string {
  if (!isPath(path)) throw new LockConfigurationError(`Not a path for data: ${quoted(path)}. ${EXAMPLE}`);
  const reserved = reservedIn(path);
  if (reserved === undefined) return `${base}${path}`;
  throw new LockConfigurationError(`Not a path for data: ${path}. ${reserved} is what nodes of locks are called`);
}

/**
 * The nodes of queues, and all above them that the locks made, are containers: the servers remove them, with their data,
 * when they have stood empty for a while. A server does not tell which nodes are, so data and locks are kept apart.
 * @throws LockConfigurationError
 */
export function refuseBelowRoot(root: string, key: string): void {
  if (key !== root && !key.startsWith(`${root}/`)) return;
  throw new LockConfigurationError(
    `The lock ${key} is below ${root}, where FencedZnodes keeps data: the servers remove the nodes of an empty queue and ` +
      'those above it, with what is in them. Give one of the two another place',
    key,
  );
}

/** @throws LockConfigurationError for more than a request takes */
export function dataBytes(path: string, data: string | Uint8Array): Uint8Array {
  const bytes = bytesOf(data, path, 'what is to be written');
  if (bytes.length <= MAX_DATA_BYTES) return bytes;
  throw new LockConfigurationError(
    `${bytes.length} bytes for ${path}: ZooKeeper takes up to a megabyte in a request, and data that is read often ` +
      `should be small. At most ${MAX_DATA_BYTES} bytes; keep more in another store`,
  );
}

function isPath(path: unknown): path is string {
  return typeof path === 'string' && path !== '/' && checkPath(path) === undefined;
}

function reservedIn(path: string): string | undefined {
  return path.split('/').find((segment) => RESERVED.test(segment));
}
