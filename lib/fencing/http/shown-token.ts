import { InvalidFencingTokenError } from '../../lock/errors.js';
import { FencingTokenRequiredError } from './fencing-token-required-error.js';

/** The header that carries a fencing token. */
export const FENCING_TOKEN_HEADER = 'Fencing-Token';

/** Node writes the names of headers in lower case, for Express and Fastify alike. */
const RECEIVED_AS = FENCING_TOKEN_HEADER.toLowerCase();

/** What both Express and Fastify requests have. */
export interface FencedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Express gives the segments of a wildcard as a list. */
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
}

/**
 * The one value of the header.
 * @throws FencingTokenRequiredError where it is missing, InvalidFencingTokenError where there are several
 */
export function shownToken(request: FencedRequest, key: string, isSigned: boolean): string {
  const value = request.headers[RECEIVED_AS];
  if (value === undefined || value === '') throw tokenMissing(key, isSigned);
  // Node joins several headers of one name with commas, which neither digits nor a signed token contain.
  if (typeof value === 'string' && !value.includes(',')) return value;
  throw new InvalidFencingTokenError(
    `The request has several ${FENCING_TOKEN_HEADER} headers; send that of the lock on ${key}`,
    key,
  );
}

function tokenMissing(key: string, isSigned: boolean): FencingTokenRequiredError {
  const form = isSigned ? 'as a signed token' : 'in digits';
  return new FencingTokenRequiredError(
    `The request has no ${FENCING_TOKEN_HEADER} header. It needs the token of the lock on ${key}, ${form}: fencedFetch and ` +
      'fencingInterceptor send it',
    key,
  );
}
