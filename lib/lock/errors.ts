import { IntrinsicException } from '@nestjs/common';
import type { AbandonedLock } from './abandoned.js';
import { UNSEEN, visible } from './visible.js';

/** The code of every error of this package. Codes are the contract; the texts may change. */
export type LockErrorCode =
  | 'LOCK_TIMEOUT'
  | 'LOCK_ABORTED'
  | 'LOCK_LOST'
  | 'LOCK_BROKEN'
  | 'LOCK_DRAINED'
  | 'LOCK_UNAVAILABLE'
  | 'LOCK_CLOSED'
  | 'LOCK_QUEUE_FULL'
  | 'LOCK_ABANDONED'
  | 'LOCK_CONFIGURATION'
  | 'INVALID_LOCK_KEY'
  | 'DEADLOCK'
  | 'STALE_FENCING_TOKEN'
  | 'INVALID_FENCING_TOKEN'
  | 'FENCING_TOKEN_REQUIRED'
  | 'ZNODE_CONFLICT';

/** A lock error in JSON. It holds nothing that an outside caller may not read. */
export interface LockErrorJson {
  readonly name: string;
  readonly code: LockErrorCode;
  readonly message: string;
  readonly status: number;
}

/**
 * The base of all lock errors. Frameworks show `message` to outside callers: Nest does so over HTTP, in event streams
 * and in GraphQL, with a filter or without. So `message` is one plain sentence per class that names no key, server or
 * address; those are in `details`, for logs. `status`, `statusCode` and `expose` serve HTTP layers, and Nest does not
 * log such an error as a crash.
 */
export abstract class LockError extends IntrinsicException {
  abstract readonly code: LockErrorCode;
  abstract readonly status: number;
  /** Whether a filter may show `message` to the outside. */
  readonly expose: boolean = true;
  /** What happened, to which lock, what each server said, and what to do about it. It is not for outside callers. */
  readonly details: string;

  /** @param key the lock that the error is about, where there is one */
  constructor(
    text: string,
    readonly key?: string,
    options?: ErrorOptions,
  ) {
    const details = visible(text);
    // Details may be the message only where they name no key, since the message leaves the process.
    super(new.target.tellsDetails && !names(details, key) ? details : new.target.outward, options);
    this.details = details;
    // A logger that prints an error's members would otherwise print the same sentence twice.
    if (details === this.message) Object.defineProperty(this, 'details', { enumerable: false });
    this.name = new.target.name;
  }

  get statusCode(): number | undefined {
    return this.status;
  }

  /** GraphQL adds these members to its answer next to the message. Clients tell errors apart by the `code`. */
  get extensions(): { readonly code: LockErrorCode } {
    return { code: this.code };
  }

  /** A framework that answers with the error itself says no more than `message` does: neither `key` nor `details`. */
  toJSON(): LockErrorJson {
    const { outward } = this.constructor as typeof LockError;
    return { name: this.name, code: this.code, message: this.expose ? this.message : outward, status: this.status };
  }

  /** The `message`, which anybody may read. @internal */
  static readonly outward: string = 'The lock could not be used';

  /** Whether the `message` is the details, as long as they name no key. @internal */
  static readonly tellsDetails: boolean = false;
}

function names(details: string, key: string | undefined): boolean {
  // A text may show a key as it is, as JSON writes it, or made visible. The longest part that none of these changes
  // decides.
  const parts = key?.split(UNSEEN).flatMap((part) => part.split(/["\\]+/)) ?? [];
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one), '');
  return key !== undefined && details.includes(longest);
}

/** The text for a log: of an error of this package it has the details, too. */
export function detailsOf(error: unknown): string {
  return error instanceof LockError ? `${error.name}: ${error.details}` : String(error);
}

/** The lock was busy for the whole time that the call could wait. ZooKeeper answered; somebody else held the key. */
export class LockTimeoutError extends LockError {
  readonly code = 'LOCK_TIMEOUT';
  readonly status = 423;

  static override readonly outward: string =
    'The lock is busy: others held it for the whole time that this call could wait';
}

/** More were ahead than the call's `maxWaiting` allows, so it did not join the queue. Nothing was written for it. */
export class LockQueueFullError extends LockError {
  readonly code = 'LOCK_QUEUE_FULL';
  readonly status = 429;

  static override readonly outward: string = 'The lock is busy, and its queue is full: try again later';

  /**
   * In about how many milliseconds there is a place in the queue again; undefined where this process has not yet held
   * the lock, and does not know how long that takes. `LockExceptionFilter` makes its `Retry-After` of it.
   */
  readonly retryAfterMs: number | undefined;

  constructor(
    details: string,
    key?: string,
    options: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(details, key, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * The last holder vanished inside, and by its policy or the call's own nobody enters before that is repaired: see
 * `onAbandoned`. Trying again does not help.
 */
export class LockAbandonedError extends LockError {
  readonly code = 'LOCK_ABANDONED';
  readonly status = 423;

  static override readonly outward: string =
    'The lock is closed: what its last holder left behind must be repaired first';

  /** What is known of the holder that vanished. It is not for outside callers, and not in the JSON. */
  readonly abandoned: AbandonedLock | undefined;

  constructor(
    details: string,
    key?: string,
    options: ErrorOptions & { readonly abandoned?: AbandonedLock | undefined } = {},
  ) {
    super(details, key, options);
    this.abandoned = options.abandoned;
  }
}

/**
 * The caller ended the wait, by its own `AbortSignal` (whose reason is the `cause`) or by the end of its transaction.
 */
export class LockAbortedError extends LockError {
  readonly code = 'LOCK_ABORTED';
  readonly status = 499;

  static override readonly outward: string = 'The wait for the lock was cancelled';
}

/**
 * What the session saw when a lock was lost. It tells whether this process stood still, the network failed, or the
 * servers did.
 */
export interface LossEvidence {
  /**
   * How long ago the servers last confirmed a write of the session; undefined where they never did. Up to a quarter of
   * the session time-out is usual.
   */
  readonly lastProofAgeMs: number | undefined;
  /** How long the connection had been down; 0 where it was up, as far as the session knew. */
  readonly linkDownMs: number;
  /** How long, at the least, the event loop had stood still since the last proof; 0 where no timer was late. */
  readonly loopStalledMs: number;
  /** The session time-out that the servers granted. */
  readonly sessionTimeoutMs: number;
}

/** The lock was held and can no longer be trusted. Somebody else may hold it now or soon. */
export class LockLostError extends LockError {
  readonly code: 'LOCK_LOST' | 'LOCK_BROKEN' = 'LOCK_LOST';
  readonly status = 503;

  static override readonly outward: string = 'The lock was lost';

  /** Undefined where no lock was lost: a handle was used after its release. */
  readonly evidence: LossEvidence | undefined;

  constructor(
    details: string,
    key?: string,
    options: ErrorOptions & { readonly evidence?: LossEvidence | undefined } = {},
  ) {
    super(details, key, options);
    this.evidence = options.evidence;
  }
}

/** ZooKeeper could not be reached, or not in time. Nothing is known about the lock. */
export class LockUnavailableError extends LockError {
  readonly code = 'LOCK_UNAVAILABLE';
  readonly status = 503;

  static override readonly outward: string = 'The lock service is not available';
}

/** The lock service is shutting down, or has shut down. */
export class LockClosedError extends LockError {
  readonly code = 'LOCK_CLOSED';
  readonly status = 503;

  static override readonly outward: string = 'The lock service is shutting down';
}

/** An option, a way of use, or the servers' own set-up rules out safe locks. Retrying does not help. */
export class LockConfigurationError extends LockError {
  readonly code = 'LOCK_CONFIGURATION';
  readonly status = 500;
  override readonly expose = false;

  /**
   * Undefined, so that Nest answers with a plain 500. With a number, Nest 11 would show the text to outside callers
   * whatever `expose` says.
   */
  override get statusCode(): undefined {
    return undefined;
  }

  static override readonly outward: string = 'The lock is misconfigured or misused: the details are in the log';

  /**
   * A developer must read the text where the application ends at its start. Where a key is named, the log has the text.
   */
  static override readonly tellsDetails: boolean = true;
}

/** The key, or the name of a resource, is not valid. The call was refused before any I/O. */
export class InvalidLockKeyError extends LockError {
  readonly code = 'INVALID_LOCK_KEY';
  readonly status = 400;

  static override readonly outward: string = 'A value in the name of the lock is missing or not valid';
}

/**
 * This caller and others waited for each other, and this one was chosen to give way. Start again from the beginning.
 */
export class DeadlockError extends LockError {
  readonly code = 'DEADLOCK';
  readonly status = 409;

  static override readonly outward: string = 'This call and others were waiting for each other: start again';
}

/** A store has seen a newer token than this one. The caller's lock is over, whatever the caller believes. */
export class StaleFencingTokenError extends LockError {
  readonly code = 'STALE_FENCING_TOKEN';
  readonly status = 409;

  static override readonly outward: string = 'The fencing token is stale: a newer one has been seen';
}

/** The given fencing token gives no right to write: it is malformed or forged, or it belongs to another lock. */
export class InvalidFencingTokenError extends LockError {
  readonly code = 'INVALID_FENCING_TOKEN';
  readonly status = 403;

  static override readonly outward: string = 'The fencing token is not valid here';
}
