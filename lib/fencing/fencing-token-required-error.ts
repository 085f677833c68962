import { LockError } from '../lock/errors.js';

/** A request to a guarded route shows no fencing token at all. Nothing was let in, and no mark was raised. */
export class FencingTokenRequiredError extends LockError {
  readonly code = 'FENCING_TOKEN_REQUIRED';
  readonly status = 428;

  static override readonly outward: string =
    'This request needs a fencing token in the header Fencing-Token: take the lock on what it writes, and send its token';
}
