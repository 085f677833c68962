const MAX_TOKEN = 2n ** 63n - 1n;
const DIGITS = /^[1-9]\d{0,18}$/;

/** A fencing token from what may be one: a bigint, or its digits; each token has one text. Undefined for anything else. */
export function readToken(value: unknown): bigint | undefined {
  const token = typeof value === 'string' && DIGITS.test(value) ? BigInt(value) : value;
  return typeof token === 'bigint' && token > 0n && token <= MAX_TOKEN ? token : undefined;
}

/**
 * The rule of all stores: whoever writes to a resource shows the fencing token of the lock, and a token below the highest
 * that was shown before comes too late. The same token may come again, as a holder writes more than once.
 */
export function isStale(token: bigint, highest: bigint): boolean {
  return token < highest;
}
