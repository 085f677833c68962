/**
 * The rule of all stores: whoever writes to a resource shows the fencing token of the lock, and a token below the highest
 * that was shown before comes too late. The same token may come again, as a holder writes more than once.
 */
export function isStale(token: bigint, highest: bigint): boolean {
  return token < highest;
}
