import { LockUnavailableError } from '../../lock/errors.js';
import { KEPT_REVISIONS } from './scripts.js';
import { onOneLine } from '../shown.js';

/** Redis knows a change that the client sends a second time only while it is among the last ones. */
export const WRITTEN_AT_MOST_ONCE = `Nothing was written, unless the answer to a first try was lost and ${KEPT_REVISIONS} others have written since.`;

export function unknownOutcome(resource: string): LockUnavailableError {
  return new LockUnavailableError(
    `${onOneLine(resource)} was written ${KEPT_REVISIONS} times or more by others, or removed from Redis, since this update read it. ` +
      'If the answer to a first try was lost, it is not known whether it was carried out. Read it again',
    resource,
  );
}
