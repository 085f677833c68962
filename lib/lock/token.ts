import { LockConfigurationError } from './errors.js';

/** What a transaction takes of a token: the ensemble's own epoch (20 bits) and counter (32). */
const TRANSACTION_BITS = 52n;
const MAX_TRANSACTION = (1n << TRANSACTION_BITS) - 1n;
const MAX_MAP_EPOCH = (1n << 11n) - 1n;

/**
 * The fencing token of a contender: the transaction that created its node, its `czxid`. Later grants have larger tokens,
 * whatever is restarted in between, and all fit a positive 64-bit integer. The bits above are for a number that a service
 * raises when its keys move to another ensemble, whose transactions count anew; nothing raises it, so it is 0.
 */
export function fencingToken(czxid: bigint, mapEpoch = 0n): bigint {
  if (czxid <= 0n || czxid > MAX_TRANSACTION || mapEpoch < 0n || mapEpoch > MAX_MAP_EPOCH) {
    throw new LockConfigurationError(
      `The transaction ${czxid} under map epoch ${mapEpoch} does not fit a fencing token (20 + 32 bits under 11). ` +
        'The ensemble has gone through more than a million elections, or answers nonsense',
    );
  }
  return (mapEpoch << TRANSACTION_BITS) | czxid;
}
