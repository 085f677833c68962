import { LockHandle } from '../../lock/handle.js';
import { type FenceSettings, tokenToCompare } from '../fence.js';
import { assertMayWrite, ticketOfAnotherLock, ticketOfNoPlace } from '../refusals.js';

/** What another process needs to write under a lock: plain data, for a message, a job, a header. */
export interface LockTicket {
  readonly key: string;
  /** The contender's node: as long as it is there, nobody else has the lock. */
  readonly nodePath: string;
  /** In digits, or signed. */
  readonly fencingToken: string;
}

/** The right by which a writer writes. */
export interface Right extends LockTicket {
  readonly token: bigint;
  /** What the right was shown as. A handle is believed; for a ticket the servers are asked. */
  readonly shownAs: 'handle' | 'signed ticket' | 'ticket';
}

/** The name of a contender's node ends with its number in the queue. */
const CONTENDER = /^[^/]+\d{10}$/;

/**
 * The lock as plain data. Those who verify signatures want `signedToken`.
 * @throws LockConfigurationError for a lock that gives no right to write
 */
export function ticketOf(lock: LockHandle, signedToken?: string): LockTicket {
  assertMayWrite(lock);
  const { key, nodePath, fencingToken } = lock;
  return { key, nodePath, fencingToken: signedToken ?? fencingToken.toString() };
}

/**
 * Checks all that can be checked without asking the servers. For a handle this waits while its lock is suspended.
 * @throws LockLostError, InvalidFencingTokenError
 */
export async function rightOf(
  fence: LockHandle | LockTicket,
  path: string,
  namespace: string,
  settings: FenceSettings,
): Promise<Right> {
  const { key, nodePath } = fence;
  const needed = settings.lockKey?.(path);
  if (needed !== undefined && key !== needed) throw ticketOfAnotherLock(key, path, needed);
  const queue = `${namespace}${String(key)}/`;
  if (typeof nodePath !== 'string' || !nodePath.startsWith(queue) || !CONTENDER.test(nodePath.slice(queue.length))) {
    throw ticketOfNoPlace(key, nodePath, queue);
  }
  const isHandle = fence instanceof LockHandle;
  const token = await tokenToCompare(isHandle ? fence : fence.fencingToken, path, settings);
  const ticket = settings.keys === undefined ? 'ticket' : 'signed ticket';
  return { key, nodePath, token, fencingToken: token.toString(), shownAs: isHandle ? 'handle' : ticket };
}
