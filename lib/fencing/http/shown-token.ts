import { severalTokens, tokenMissing } from '../refusals.js';

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
  if (value === undefined || value === '') throw tokenMissing(key, FENCING_TOKEN_HEADER, isSigned);
  // Node joins several headers of one name with commas, which neither digits nor a signed token contain.
  if (typeof value === 'string' && !value.includes(',')) return value;
  throw severalTokens(key, FENCING_TOKEN_HEADER);
}
