import { InvalidFencingTokenError, LockConfigurationError } from '../lock/errors.js';
import { LockHandle, MultiLockHandle } from '../lock/handle.js';
import { covers } from '../lock/mode.js';
import type { VerificationKeys } from './keys/verification-keys.js';
import { type ExpectedToken, verifyToken } from './signed-token.js';
import { readToken } from './token-digits.js';
import { onOneLine } from './on-one-line.js';

/** What a writer shows to a store: the lock itself, its token as a number or in digits, or a signed token. */
export type Fence = LockHandle | bigint | string;

/** What a store asks of those who write to it. */
export interface FenceSettings {
  /** With keys, whoever has no handle must show a signed token: a number alone proves nothing. */
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
    return tokenOfSigned(fence, resource, settings.keys, { key: lockKeyOf(resource, settings) });
  }
  throw new InvalidFencingTokenError(
    `${onOneLine(resource)} takes signed fencing tokens only, or the lock itself: sign this one with signToken()`,
    resource,
  );
}

/** @throws InvalidFencingTokenError */
export function parseToken(token: bigint | string, resource: string): bigint {
  const value = readToken(token);
  if (value !== undefined) return value;
  const shown = typeof token === 'string' ? onOneLine(JSON.stringify(token.slice(0, 40))) : String(token);
  throw new InvalidFencingTokenError(
    `Not a fencing token for ${onOneLine(resource)}: ${shown}. It is a positive 64-bit integer: a bigint, or its digits as text`,
    resource,
  );
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
  throw new InvalidFencingTokenError(
    `The signed token shows that ${onOneLine(expected.key)} is held as ${mode}, which gives no right to write to ${onOneLine(resource)}: take ` +
      'the lock as exclusive or write, or upgrade it and sign again',
    expected.key,
  );
}

function lockKeyOf(resource: string, { lockKey }: FenceSettings): string {
  return lockKey === undefined ? resource : lockKey(resource);
}

/** From JavaScript; or where the type was lost on the way. */
function refuseSeveral(fence: unknown, resource: string): void {
  if (!(fence instanceof MultiLockHandle)) return;
  const keys = fence.locks.map(({ key }) => key).join(', ');
  throw new LockConfigurationError(
    `The fence for ${onOneLine(resource)} is a handle on several locks (${keys}), each of which has a token of its own: take one of ` +
      `its locks, the one that protects ${onOneLine(resource)}: handle.locks.find(({ key }) => key === ...)`,
    resource,
  );
}

async function tokenOfHandle(lock: LockHandle, resource: string, settings: FenceSettings): Promise<bigint> {
  if (settings.lockKey !== undefined && settings.lockKey(resource) !== lock.key) {
    throw new LockConfigurationError(
      `${onOneLine(resource)} is protected by the lock ${onOneLine(settings.lockKey(resource))} (lockKey), not by ${lock.key}: the tokens of two ` +
        'locks have nothing to do with each other',
      lock.key,
    );
  }
  if (!covers(lock.mode, 'write')) {
    throw new LockConfigurationError(
      `${lock.key} is held as ${lock.mode}, which gives no right to write to ${onOneLine(resource)}: take it as exclusive or write, ` +
        'or upgrade it',
      lock.key,
    );
  }
  await lock.whenSure();
  return lock.fencingToken;
}
