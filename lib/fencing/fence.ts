import { LockHandle, MultiLockHandle } from '../lock/handle.js';
import { covers } from '../lock/mode.js';
import type { VerificationKeys } from './signed/keys.js';
import { type ExpectedToken, verifyToken } from './signed/signed-token.js';
import {
  assertMayWrite,
  handleOfAnotherLock,
  handleOfSeveralLocks,
  malformedToken,
  signedByReader,
  unsignedToken,
} from './refusals.js';
import { readToken } from './token.js';

/** What a writer shows to a store: the lock itself, its token as a number or in digits, or a signed token. */
export type Fence = LockHandle | bigint | string;

/** What a store asks of those who write to it. */
export interface FenceSettings {
  /** With keys, a writer without a handle must show a signed token: a number alone proves nothing. */
  readonly keys?: VerificationKeys;
  /**
   * The lock that protects a resource; a signed token of another lock is refused, and the handle of another.
   * @default signed tokens must be of the lock whose key is the resource; handles may be of any
   */
  readonly lockKey?: (resource: string) => string;
}

/**
 * The token to compare. For a handle this waits while its lock is suspended, so that nothing is written in doubt.
 * @throws LockLostError when the lock of the handle is lost, InvalidFencingTokenError for what is no token,
 *   LockConfigurationError for a handle that is not for this
 */
export async function tokenToCompare(fence: Fence, resource: string, settings: FenceSettings): Promise<bigint> {
  if (fence instanceof LockHandle) return tokenOfHandle(fence, resource, settings);
  refuseSeveral(fence, resource);
  if (settings.keys === undefined) return parseToken(fence, resource);
  if (typeof fence === 'string') {
    const key = settings.lockKey === undefined ? resource : settings.lockKey(resource);
    return tokenOfSigned(fence, resource, settings.keys, { key });
  }
  throw unsignedToken(resource);
}

/** @throws InvalidFencingTokenError */
export function parseToken(token: bigint | string, resource: string): bigint {
  const value = readToken(token);
  if (value === undefined) throw malformedToken(token, resource);
  return value;
}

/**
 * The token of a signed text that gives a right to write.
 * @throws InvalidFencingTokenError
 */
export function tokenOfSigned(
  text: string,
  resource: string,
  keys: VerificationKeys,
  expected: ExpectedToken & { readonly key: string },
): bigint {
  const { token, mode } = verifyToken(text, keys, expected);
  if (covers(mode, 'write')) return token;
  throw signedByReader(expected.key, mode, resource);
}

function refuseSeveral(fence: unknown, resource: string): void {
  // The types refuse such a handle, but JavaScript has no types, and code may lose them on the way.
  if (!(fence instanceof MultiLockHandle)) return;
  const keys = fence.locks.map(({ key }) => key);
  throw handleOfSeveralLocks(keys, resource);
}

async function tokenOfHandle(lock: LockHandle, resource: string, settings: FenceSettings): Promise<bigint> {
  const needed = settings.lockKey?.(resource);
  if (settings.lockKey !== undefined && needed !== lock.key) {
    throw handleOfAnotherLock(lock.key, resource, String(needed));
  }
  assertMayWrite(lock, { to: resource });
  await lock.whenSure();
  return lock.fencingToken;
}
