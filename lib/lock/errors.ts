import { IntrinsicException } from '@nestjs/common';
import { inOneLine } from './shown.js';

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
  | 'FENCING_TOKEN_REQUIRED'
  | 'ZNODE_CONFLICT';

/** A lock error as JSON has it: nothing that those who call from outside may not read. */
export interface LockErrorJson {
  readonly name: string;
  readonly code: LockErrorCode;
  readonly message: string;
  readonly status: number;
}

/**
 * What all lock errors share. Frameworks show `message` to whoever called: Nest over HTTP, in event streams and in GraphQL,
 * with a filter or without. So it is one plain sentence for each class and names no key, server or address; these are in
 * `details`, for logs. The error carries the shape HTTP layers read (`status`, `statusCode`, `expose`), and Nest does not
 * log it as a crash.
 */
export abstract class LockError extends IntrinsicException {
  abstract readonly code: LockErrorCode;
  abstract readonly status: number;
  /** Whether a filter may show `message` to the outside. */
  readonly expose: boolean = true;
  /** What happened, to which lock, what each server said, and what to do about it. Not for those who call from outside. */
  readonly details: string;

  /** @param key the lock it happened to, where there is one */
  constructor(
    text: string,
    readonly key?: string,
    options?: ErrorOptions,
  ) {
    const details = inOneLine(text);
    super(new.target.tellsDetails && !names(details, key) ? details : new.target.outward, options);
    this.details = details;
    // A logger that prints the members of an error need not print the same sentence twice.
    if (details === this.message) Object.defineProperty(this, 'details', { enumerable: false });
    this.name = new.target.name;
  }

  get statusCode(): number | undefined {
    return this.status;
  }

  /** Where GraphQL looks for what its answer says of an error besides the message; clients tell errors by the `code` there. */
  get extensions(): { readonly code: LockErrorCode } {
    return { code: this.code };
  }

  /** Whoever answers with an error as it is says no more than `message` does: neither `key` nor `details`. */
  toJSON(): LockErrorJson {
    const { outward } = this.constructor as typeof LockError;
    return { name: this.name, code: this.code, message: this.expose ? this.message : outward, status: this.status };
  }

  /** The `message`: what anybody may read. @internal */
  static readonly outward: string = 'The lock could not be used';

  /** Whether the details are the `message` where they name no key. @internal */
  static readonly tellsDetails: boolean = false;
}

function names(details: string, key: string | undefined): boolean {
  // Texts show a key as it is, as JSON writes it, or on one line. What none of these changes tells it: its longest part.
  const parts = key?.split(/[\p{Cc}\u2028\u2029"\\]+/u) ?? [];
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one), '');
  return key !== undefined && details.includes(longest);
}

/** What a log says of any error: all of it, where it is one of ours. */
export function detailsOf(error: unknown): string {
  return error instanceof LockError ? `${error.name}: ${error.details}` : String(error);
}

/** The lock was busy for as long as the caller would wait. ZooKeeper was there; somebody else held the key. */
export class LockTimeoutError extends LockError {
  readonly code = 'LOCK_TIMEOUT';
  readonly status = 423;

  static override readonly outward: string =
    'The lock is busy: others held it for the whole time that this call could wait';
}

/** The caller ended the wait: its own `AbortSignal` (whose reason is the `cause`), or the end of its transaction. */
export class LockAbortedError extends LockError {
  readonly code = 'LOCK_ABORTED';
  readonly status = 499;

  static override readonly outward: string = 'The wait for the lock was cancelled';
}

/** What the session had seen when a lock was lost: whether this process stood still, the network failed, or the servers did. */
export interface LossEvidence {
  /**
   * For how long the servers had answered nothing that was committed for the session; undefined where they never did. Up to a
   * quarter of the session time-out is usual.
   */
  readonly lastProofAgeMs: number | undefined;
  /** For how long the connection had been down; 0: it was up, as far as anybody knew. */
  readonly linkDownMs: number;
  /** For how long the event loop had stood still since the last proof, at least; 0: no timer was late. */
  readonly loopStalledMs: number;
  /** As the servers granted it. */
  readonly sessionTimeoutMs: number;
}

/** The lock was held and can no longer be trusted. Somebody else may hold it now, or soon. */
export class LockLostError extends LockError {
  readonly code = 'LOCK_LOST';
  readonly status = 503;

  static override readonly outward: string = 'The lock was lost';

  /** Undefined where nothing was lost: a handle was used after its release. */
  readonly evidence: LossEvidence | undefined;

  constructor(
    details: string,
    key?: string,
    options: ErrorOptions & { readonly evidence?: LossEvidence | undefined } = {},
  ) {
    const { evidence, ...rest } = options;
    super(details, key, rest);
    this.evidence = evidence;
  }
}

/** ZooKeeper could not be reached, or not within the time there was. Nothing is known about the lock. */
export class LockUnavailableError extends LockError {
  readonly code = 'LOCK_UNAVAILABLE';
  readonly status = 503;

  static override readonly outward: string = 'The lock service is not available';
}

/** The lock service is shutting down, or has. */
export class LockClosedError extends LockError {
  readonly code = 'LOCK_CLOSED';
  readonly status = 503;

  static override readonly outward: string = 'The lock service is shutting down';
}

/** An option, a way of use, or the servers' own set-up makes safe locks impossible. Retrying does not help. */
export class LockConfigurationError extends LockError {
  readonly code = 'LOCK_CONFIGURATION';
  readonly status = 500;
  override readonly expose = false;

  /** None: Nest 11 would show the text to whoever called, for all that `expose` says. Without it Nest answers with a 500. */
  override get statusCode(): undefined {
    return undefined;
  }

  static override readonly outward: string = 'The lock is misconfigured or misused: the details are in the log';

  /** Who develops must read it where the application ends at its start. Of what happens to a key later, the log tells. */
  static override readonly tellsDetails: boolean = true;
}

/** The key, or the name of a resource, is none: refused before any I/O. */
export class InvalidLockKeyError extends LockError {
  readonly code = 'INVALID_LOCK_KEY';
  readonly status = 400;

  static override readonly outward: string = 'A value in the name of the lock is missing or not valid';
}

/** This caller and others wait for each other, and this one was chosen to give way. Retry from the start. */
export class DeadlockError extends LockError {
  readonly code = 'DEADLOCK';
  readonly status = 409;

  static override readonly outward: string = 'This call and others were waiting for each other: start again';
}

/** A store has seen a newer token than this one: the caller's lock is over, whatever it believes. */
export class StaleFencingTokenError extends LockError {
  readonly code = 'STALE_FENCING_TOKEN';
  readonly status = 409;

  static override readonly outward: string = 'The fencing token is stale: a newer one has been seen';
}

/** What was shown as a fencing token gives no right to write: it is none, it was forged, or it is that of another lock. */
export class InvalidFencingTokenError extends LockError {
  readonly code = 'INVALID_FENCING_TOKEN';
  readonly status = 403;

  static override readonly outward: string = 'The fencing token is not valid here';
}
