import { LockError } from '../../lock/errors.js';

/** An answer that says no: the status, the heading, and what to do instead. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    message: string,
  ) {
    super(message);
    this.name = 'Refusal';
  }
}

/** Tells a visitor of an error. A fault of ours is thrown on, to the application's own filters. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof LockError)) throw error;
  const { code, status, message, details } = error;
  switch (code) {
    case 'LOCK_UNAVAILABLE':
    case 'LOCK_CLOSED':
      // The details name servers, and are in the log.
      return new Refusal(503, 'ZooKeeper does not answer', `${message}. The log of the application says more.`);
    case 'INVALID_LOCK_KEY':
      return new Refusal(400, 'That is no key', details);
    case 'STALE_FENCING_TOKEN':
      return new Refusal(409, 'Nothing was done', details);
    default:
      return new Refusal(status, 'That did not work', details);
  }
}
