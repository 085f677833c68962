import { type ArgumentsHost, Catch } from '@nestjs/common';
import { type Observable, throwError } from 'rxjs';
import { LockAbandonedError, LockError } from '../../lock/errors.js';
import { LockExceptionFilter } from '../../nest/lock-exception.filter.js';

/** gRPC's status numbers never change, so no part of gRPC has to be loaded for them. */
const CANCELLED = 1;
const INVALID_ARGUMENT = 3;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const FAILED_PRECONDITION = 9;
const ABORTED = 10;
const INTERNAL = 13;
const UNAVAILABLE = 14;

const CODES: ReadonlyMap<number, number> = new Map([
  [400, INVALID_ARGUMENT],
  [403, PERMISSION_DENIED],
  [409, ABORTED],
  [423, ABORTED],
  [428, FAILED_PRECONDITION],
  [429, RESOURCE_EXHAUSTED],
  [499, CANCELLED],
  [503, UNAVAILABLE],
]);

/**
 * Answers the lock errors of gRPC handlers with gRPC's codes: ABORTED where others were in the way (start again),
 * RESOURCE_EXHAUSTED where the queue was full, FAILED_PRECONDITION where what the last holder left must be repaired first,
 * UNAVAILABLE where the lock service could not be reached or the lock was lost. The details are the error's `code` and
 * `message`. Errors of calls that are not RPC are answered as by `LockExceptionFilter`.
 *
 * Put `@UseFilters(GrpcLockExceptionFilter)` above a controller of gRPC methods.
 */
@Catch(LockError)
export class GrpcLockExceptionFilter extends LockExceptionFilter {
  override catch(error: LockError, host: ArgumentsHost): Observable<never> | undefined {
    if (host.getType() !== 'rpc') return super.catch(error, host);
    LockExceptionFilter.logDetails(error);
    const { statusCode, code, message } = this.bodyOf(error);
    // Trying again does not help before somebody has repaired what is there.
    const status = error instanceof LockAbandonedError ? FAILED_PRECONDITION : CODES.get(statusCode);
    return throwError(() => ({ code: status ?? INTERNAL, message: `${code}: ${message}` }));
  }
}
