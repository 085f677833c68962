import { LockConfigurationError } from './errors.js';

/** Bits of a token below the map epoch: the ensemble's own epoch (20) and counter (32). */
const TRANSACTION_BITS = 52n;
const MAX_TRANSACTION = (1n << TRANSACTION_BITS) - 1n;
const MAX_MAP_EPOCH = (1n << 11n) - 1n;

/**
 * The fencing token of a contender: the transaction that created its node, under the epoch of the shard map (0 for a
 * single ensemble, where the token is the `czxid` itself). Later grants have larger tokens, whatever is restarted or made
 * anew in between, and all fit a positive 64-bit integer.
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
