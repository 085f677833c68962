import { HttpException, HttpStatus } from '@nestjs/common';
import { InvalidFencingTokenError } from '../../../lock/errors.js';

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
 * @throws HttpException (428) where it is missing, InvalidFencingTokenError where there are several
 */
export function shownToken(request: FencedRequest, key: string, isSigned: boolean): string {
  const value = request.headers[RECEIVED_AS];
  if (value === undefined || value === '') throw tokenMissing(isSigned);
  // Node joins several headers of one name with commas, which neither digits nor a signed token contain.
  if (typeof value === 'string' && !value.includes(',')) return value;
  throw new InvalidFencingTokenError(
    `The request has several ${FENCING_TOKEN_HEADER} headers; send that of the lock on ${key}`,
    key,
  );
}

/** No error of a lock: the caller has shown none. The body has the form of the others, and names no key either. */
function tokenMissing(isSigned: boolean): HttpException {
  const what = isSigned ? 'signed fencing token' : 'fencing token, in digits,';
  return new HttpException(
    {
      statusCode: HttpStatus.PRECONDITION_REQUIRED,
      code: 'FENCING_TOKEN_REQUIRED',
      message:
        `This request needs the ${what} of the lock on what it writes, in the header ${FENCING_TOKEN_HEADER}: take the ` +
        'lock, and send the token of its handle',
    },
    HttpStatus.PRECONDITION_REQUIRED,
  );
}
