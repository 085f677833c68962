import { LockError } from '../../lock/errors.js';

/** The node has another version than the caller read, or is there, or is not, against what was said. Nothing was written. */
export class ZnodeConflictError extends LockError {
  readonly code = 'ZNODE_CONFLICT';
  readonly status = 409;

  static override readonly outward: string = 'The node is not as this write expects it';
}
