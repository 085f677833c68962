import { StaleFencingTokenError } from '../lock/errors.js';
import { onOneLine } from './on-one-line.js';

/**
 * The rule of all stores: whoever writes to a resource shows the fencing token of the lock, and a token below the highest
 * that was shown before comes too late. The same token may come again, as a holder writes more than once.
 */
export function isStale(token: bigint, highest: bigint): boolean {
  return token < highest;
}

export function staleToken(resource: string, token: bigint, highest: bigint): StaleFencingTokenError {
  return new StaleFencingTokenError(
    `${onOneLine(resource)} has seen the fencing token ${highest}, so ${token} comes too late: that lock is over. Nothing was written. ` +
      'Take the lock again, read again, and repeat the work if it still makes sense',
    resource,
  );
}
