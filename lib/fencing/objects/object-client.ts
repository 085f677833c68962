import { types } from 'node:util';
import { LockConfigurationError } from '../../lock/errors.js';
import { visible } from '../../lock/visible.js';
import { kindOf, quoted } from '../shown.js';

/** What a write asks of the object: to be as it was read, or not to be there. */
export type ObjectCondition =
  { readonly ifMatch: string; readonly ifNoneMatch?: never } | { readonly ifNoneMatch: '*'; readonly ifMatch?: never };

export interface ObjectContent {
  readonly body: Uint8Array;
  /** The ETag as the store gives it, with its quotes. Empty, it is refused. */
  readonly etag: string;
}

/**
 * Two calls of an object store, over whatever client you have: of an SDK, or `fetch`. A refusal is an error that has the HTTP status as
 * `status`, `statusCode`, `$metadata.httpStatusCode` (the AWS SDK) or `response.status`.
 */
export interface ObjectClient {
  /** A strong read: what was written last. @returns undefined where there is no such object */
  get(name: string): Promise<ObjectContent | undefined>;
  /**
   * Sends the condition as `If-Match` or `If-None-Match`, and rejects unless the store has taken the body. Where it resolves with a
   * status of 300 or above, that is taken for a refusal as well.
   */
  put(name: string, body: Uint8Array, condition: ObjectCondition): Promise<unknown>;
}

/**
 * Reads, and takes nothing that a condition cannot be made of: an empty `If-Match` is none for some clients and stores, and `*` is met
 * by every version.
 * @throws LockConfigurationError for a client that gives no body or no ETag
 */
export async function get(client: ObjectClient, name: string): Promise<ObjectContent | undefined> {
  const found: unknown = await client.get(name);
  if (found === undefined) return undefined;
  const { body, etag } = (found ?? {}) as Partial<Record<keyof ObjectContent, unknown>>;
  if (!types.isUint8Array(body)) {
    throw wrongContent(
      `as the body of the object ${visible(name)}, and must give it as a Uint8Array`,
      kindOf(body),
      name,
    );
  }
  if (typeof etag !== 'string' || etag.trim() === '' || etag === '*') {
    const told = typeof etag === 'string' ? quoted(etag) : kindOf(etag);
    throw wrongContent(
      `as the ETag of the object ${visible(name)}. Without the one of the version that was read, a write would have no condition, and ` +
        'a stale writer would get in. Does the store, or a proxy in front of it, keep the header back?',
      told,
      name,
    );
  }
  return { body, etag };
}

function wrongContent(what: string, told: string, name: string): LockConfigurationError {
  return new LockConfigurationError(`get() of the client gave ${told} ${what}`, name);
}

/**
 * What became of a conditional write.
 *
 * - `done`: it is there.
 * - `lost` (412, or 404 for an object that is gone): somebody wrote since.
 * - `unknown` (409, 5xx, no answer): another write was under way, or it cannot be told. It may be there, or come yet.
 * - `refused` (any other status): it was not let in.
 */
export type PutOutcome =
  { readonly type: 'done' } | { readonly type: 'lost' | 'unknown' | 'refused'; readonly error: unknown };

export async function put(
  client: ObjectClient,
  name: string,
  body: Uint8Array,
  condition: ObjectCondition,
): Promise<PutOutcome> {
  try {
    const answer = await client.put(name, body, condition);
    const status = statusOf(answer);
    // Over fetch, a client that looks at no status takes a refusal for an answer like any other.
    if (status === undefined || status < 300) return { type: 'done' };
    const error = Object.assign(new Error(`The object store answered ${status}`), { status });
    return { type: typeOf(status, condition), error };
  } catch (error) {
    return { type: typeOf(statusOf(error), condition), error };
  }
}

function typeOf(status: number | undefined, { ifMatch }: ObjectCondition): 'lost' | 'unknown' | 'refused' {
  if (status === 412) return 'lost';
  // Without a condition on an object that was read, 404 is about the bucket.
  if (status === 404) return ifMatch === undefined ? 'refused' : 'lost';
  if (status === undefined || status >= 500 || MAY_COME_YET.includes(status)) return 'unknown';
  return 'refused';
}

/** A time-out on the way, a write beside others, too many requests. */
const MAY_COME_YET: readonly number[] = [408, 409, 429];

/** The HTTP status that an error or an answer of a client carries; undefined: it has none. */
function statusOf(told: unknown): number | undefined {
  const carrier = told as {
    status?: unknown;
    statusCode?: unknown;
    $metadata?: { httpStatusCode?: unknown };
    response?: { status?: unknown };
  } | null;
  const statuses = [
    carrier?.$metadata?.httpStatusCode,
    carrier?.status,
    carrier?.statusCode,
    carrier?.response?.status,
  ];
  return statuses.find((status): status is number => typeof status === 'number');
}
