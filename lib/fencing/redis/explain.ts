import { LockUnavailableError, StaleFencingTokenError } from '../../lock/errors.js';
import { KEPT_REVISIONS } from './scripts.js';
import { onOneLine } from '../on-one-line.js';

/** Of a change. Where the client sent it twice, Redis knows the first one again only among the last changes. */
export function staleChange(resource: string, token: bigint, highest: bigint): StaleFencingTokenError {
  return new StaleFencingTokenError(
    `${onOneLine(resource)} has seen the fencing token ${highest}, so ${token} comes too late: that lock is over. Nothing was ` +
      `written, unless the answer to a first try was lost and ${KEPT_REVISIONS} others have written since. Take the lock ` +
      'again, read again, and repeat the work if it still makes sense',
    resource,
  );
}

export function unknownOutcome(resource: string): LockUnavailableError {
  return new LockUnavailableError(
    `${onOneLine(resource)} was written ${KEPT_REVISIONS} times or more by others, or removed from Redis, since this update read it. ` +
      'If the answer to a first try was lost, it is not known whether it was carried out. Read it again',
    resource,
  );
}
