import { LockError } from '../lock/errors.js';

/** The header of a request that carries a fencing token. */
export const FENCING_TOKEN_HEADER = 'Fencing-Token';

/** A request to a guarded route shows no fencing token at all. Nothing was let in, and no mark was raised. */
export class FencingTokenRequiredError extends LockError {
  readonly code = 'FENCING_TOKEN_REQUIRED';
  readonly status = 428;

  static override readonly outward: string = `This request needs a fencing token in the header ${FENCING_TOKEN_HEADER}: acquire the lock on what it writes, and send its token`;
}

/** The node has another version than the caller read, or is there, or is not, against what was said. Nothing was written. */
export class ZnodeConflictError extends LockError {
  readonly code = 'ZNODE_CONFLICT';
  readonly status = 409;

  static override readonly outward: string = 'The node is not as this write expects it';
}
