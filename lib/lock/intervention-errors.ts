import { LockError, LockLostError, type LossEvidence } from './errors.js';

const UNKNOWN = 'unknown';

/** Who stepped in from outside, and why. */
interface StepIn {
  readonly by: string;
  readonly reason: string;
}

/**
 * Somebody has broken the lock (`doctor.break`). It is no longer held. Its node goes on keeping others out until the work under it has
 * ended, within the grace that was given: compensate, and end.
 */
export class LockBrokenError extends LockLostError {
  override readonly code = 'LOCK_BROKEN';

  static override readonly outward: string = 'The lock was taken away by an operator';

  /** Who broke it. */
  readonly by: string;
  /** Why, in the words of whoever broke it. */
  readonly reason: string;

  constructor(
    details: string,
    key?: string,
    {
      by = UNKNOWN,
      reason = UNKNOWN,
      ...options
    }: ErrorOptions & Partial<StepIn> & { readonly evidence?: LossEvidence | undefined } = {},
  ) {
    super(details, key, options);
    this.by = by;
    this.reason = reason;
  }
}

/** Somebody has ended all waits for the lock (`doctor.drain`). The call held nothing, and may ask again later. */
export class LockDrainedError extends LockError {
  readonly code = 'LOCK_DRAINED';
  readonly status = 503;

  static override readonly outward: string = 'The wait for the lock was ended by an operator: try again later';

  /** Who ended the waits. */
  readonly by: string;
  /** Why, in the words of whoever ended them. */
  readonly reason: string;

  constructor(
    details: string,
    key?: string,
    { by = UNKNOWN, reason = UNKNOWN, ...options }: ErrorOptions & Partial<StepIn> = {},
  ) {
    super(details, key, options);
    this.by = by;
    this.reason = reason;
  }
}
