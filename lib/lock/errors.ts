import { IntrinsicException } from '@nestjs/common';

/** The contract of every error this package throws; the texts may change. */
export type LockErrorCode =
  | 'LOCK_TIMEOUT'
  | 'LOCK_ABORTED'
  | 'LOCK_LOST'
  | 'LOCK_UNAVAILABLE'
  | 'LOCK_CLOSED'
  | 'LOCK_CONFIGURATION'
  | 'INVALID_LOCK_KEY'
  | 'DEADLOCK'
  | 'STALE_FENCING_TOKEN'
  | 'INVALID_FENCING_TOKEN'
  | 'ZNODE_CONFLICT';

/**
 * What all lock errors share. It carries the shape HTTP layers read (`status`, `statusCode`, `expose`), and Nest does
 * not log it as a crash.
 */
export abstract class LockError extends IntrinsicException {
  abstract readonly code: LockErrorCode;
  abstract readonly status: number;
  /** Whether the text may be shown to the outside. */
  readonly expose: boolean = true;

  /** @param key the lock it happened to, where there is one */
  constructor(
    message: string,
    readonly key?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }

  get statusCode(): number {
    return this.status;
  }
}

/** The lock was busy for as long as the caller would wait. ZooKeeper was there; somebody else held the key. */
export class LockTimeoutError extends LockError {
  readonly code = 'LOCK_TIMEOUT';
  readonly status = 423;
}

/** The caller ended the wait: its own `AbortSignal` (whose reason is the `cause`), or the end of its transaction. */
export class LockAbortedError extends LockError {
  readonly code = 'LOCK_ABORTED';
  readonly status = 499;
}

/** The lock was held and can no longer be trusted. Somebody else may hold it now, or soon. */
export class LockLostError extends LockError {
  readonly code = 'LOCK_LOST';
  readonly status = 503;
}

/** ZooKeeper could not be reached, or not within the time there was. Nothing is known about the lock. */
export class LockUnavailableError extends LockError {
  readonly code = 'LOCK_UNAVAILABLE';
  readonly status = 503;
}

/** The lock service is shutting down, or has. */
export class LockClosedError extends LockError {
  readonly code = 'LOCK_CLOSED';
  readonly status = 503;
}

/** An option, a way of use, or the servers' own set-up makes safe locks impossible. Retrying does not help. */
export class LockConfigurationError extends LockError {
  readonly code = 'LOCK_CONFIGURATION';
  readonly status = 500;
  override readonly expose = false;
}

/** The key, or the name of a resource, is none: refused before any I/O. */
export class InvalidLockKeyError extends LockError {
  readonly code = 'INVALID_LOCK_KEY';
  readonly status = 400;
}

/** This caller and others wait for each other, and this one was chosen to give way. Retry from the start. */
export class DeadlockError extends LockError {
  readonly code = 'DEADLOCK';
  readonly status = 409;
}

/** A store has seen a newer token than this one: the caller's lock is over, whatever it believes. */
export class StaleFencingTokenError extends LockError {
  readonly code = 'STALE_FENCING_TOKEN';
  readonly status = 409;
}

/** What was shown as a fencing token gives no right to write: it is none, it was forged, or it is that of another lock. */
export class InvalidFencingTokenError extends LockError {
  readonly code = 'INVALID_FENCING_TOKEN';
  readonly status = 403;
}
