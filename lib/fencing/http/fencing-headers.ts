import type { LockHandle } from '../../lock/handle.js';
import type { SigningKeys } from '../signed/keys.js';
import { signToken } from '../signed/signed-token.js';
import { FENCING_TOKEN_HEADER } from './shown-token.js';
import { writingLock } from './writing-lock.js';

/**
 * The header that shows a lock's fencing token to another service, signed where keys are given. For clients that
 * `fencedFetch` and `fencingInterceptor` do not serve: await `lock.whenSure()` before, and hand on `lock.signal`.
 *
 * @throws LockConfigurationError for a lock that gives no right to write
 */
export function fencingHeaders(lock: LockHandle, keys?: SigningKeys): { readonly 'Fencing-Token': string } {
  const { fencingToken } = writingLock(lock, 'fencingHeaders');
  return { [FENCING_TOKEN_HEADER]: keys === undefined ? String(fencingToken) : signToken(lock, keys) };
}
