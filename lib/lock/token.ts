import { LockConfigurationError } from './errors.js';

/** How many bits of a token a transaction takes: the ensemble's epoch (20 bits) and counter (32). */
const TRANSACTION_BITS = 52n;
const MAX_TRANSACTION = (1n << TRANSACTION_BITS) - 1n;
const MAX_MAP_EPOCH = (1n << 11n) - 1n;

/**
 * The fencing token of a contender: the transaction that created its node, its `czxid`. Later grants have larger
 * tokens, whatever is restarted in between, and all tokens fit a positive 64-bit integer. The bits above the
 * transaction are for a number that a service raises when its keys move to another ensemble, whose transactions begin
 * anew. Nothing raises it yet, so it is 0.
 */
export function fencingToken(czxid: bigint, mapEpoch = 0n): bigint {
  if (mapEpoch < 0n || mapEpoch > MAX_MAP_EPOCH) {
    throw new LockConfigurationError(
      `The number in front of a token must be from 0 to ${MAX_MAP_EPOCH}, not ${mapEpoch}`,
    );
  }
  // A larger number would overlap the bits above it, and tokens would no longer rise.
  if (czxid <= 0n || czxid > MAX_TRANSACTION) {
    throw new LockConfigurationError(
      `ZooKeeper gave a lock the transaction number ${hexadecimal(czxid)}, and a fencing token must lie between 0x1 and ` +
        `${hexadecimal(MAX_TRANSACTION)}. Compare it with the Zxid that the four-letter word srvr shows. If that is as large, the ` +
        'ensemble has elected more than a million leaders: replace it by a new one, whose tokens begin anew. If it is not, the ' +
        'server that answers is no ZooKeeper',
    );
  }
  return (mapEpoch << TRANSACTION_BITS) | czxid;
}

/** The number as ZooKeeper shows its transactions. */
function hexadecimal(number: bigint): string {
  return number < 0n ? `-0x${(-number).toString(16)}` : `0x${number.toString(16)}`;
}
