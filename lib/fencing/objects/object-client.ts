/** What a write asks of the object: to be as it was read, or not to be there. */
export type ObjectCondition =
  { readonly ifMatch: string; readonly ifNoneMatch?: never } | { readonly ifNoneMatch: '*'; readonly ifMatch?: never };

export interface ObjectContent {
  readonly body: Uint8Array;
  /** The ETag as the store gives it, with its quotes. */
  readonly etag: string;
}

/**
 * Two calls of an object store, over whatever client you have: of an SDK, or `fetch`. A refusal is an error that has the HTTP status as
 * `status`, `statusCode`, `$metadata.httpStatusCode` (the AWS SDK) or `response.status`.
 */
export interface ObjectClient {
  /** A strong read: what was written last. @returns undefined where there is no such object */
  get(name: string): Promise<ObjectContent | undefined>;
  /** Sends the condition as `If-Match` or `If-None-Match`, and rejects unless the store has taken the body. */
  put(name: string, body: Uint8Array, condition: ObjectCondition): Promise<unknown>;
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
    await client.put(name, body, condition);
    return { type: 'done' };
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

/** The HTTP status that an error of a client carries; undefined: there was no answer. */
function statusOf(error: unknown): number | undefined {
  const carrier = error as {
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
