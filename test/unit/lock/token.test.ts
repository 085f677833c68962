import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LockConfigurationError } from '../../../lib/lock/errors.js';
import { fencingToken } from '../../../lib/lock/token.js';

const MAX_INT64 = (1n << 63n) - 1n;
const MAX_EPOCH = (1n << 20n) - 1n;
const MAX_COUNTER = (1n << 32n) - 1n;
const MAX_MAP_EPOCH = (1n << 11n) - 1n;

const czxid = fc
  .tuple(fc.bigInt({ min: 0n, max: MAX_EPOCH }), fc.bigInt({ min: 0n, max: MAX_COUNTER }))
  .map(([epoch, counter]) => (epoch << 32n) | counter)
  .filter((one) => one > 0n);
const mapEpoch = fc.bigInt({ min: 0n, max: MAX_MAP_EPOCH });

describe('fencing tokens', () => {
  it('are the czxid itself for one ensemble', () => {
    fc.assert(fc.property(czxid, (one) => fencingToken(one) === one));
  });

  it('fit a positive int64, and keep map epoch (11 bits), epoch (20) and counter (32) apart', () => {
    fc.assert(
      fc.property(czxid, mapEpoch, (one, epoch) => {
        const token = fencingToken(one, epoch);
        expect(token > 0n && token <= MAX_INT64).toBe(true);
        expect([token >> 52n, token & ((1n << 52n) - 1n)]).toEqual([epoch, one]);
      }),
    );
    expect(fencingToken((MAX_EPOCH << 32n) | MAX_COUNTER, MAX_MAP_EPOCH)).toBe(MAX_INT64);
  });

  it('rise with the map epoch first, then with the transaction', () => {
    fc.assert(
      fc.property(czxid, mapEpoch, czxid, mapEpoch, (one, epoch, other, otherEpoch) => {
        const isLater = epoch !== otherEpoch ? epoch > otherEpoch : one > other;
        expect(fencingToken(one, epoch) > fencingToken(other, otherEpoch)).toBe(isLater);
      }),
    );
  });

  it.each([
    [0n, 0n],
    [-1n, 0n],
    [1n << 52n, 0n],
    [1n, -1n],
    [1n, 1n << 11n],
  ])('are refused rather than cut short for a transaction %p under map epoch %p', (transaction, epoch) => {
    expect(() => fencingToken(transaction, epoch)).toThrow(LockConfigurationError);
  });

  it('are refused in words that are explained somewhere', () => {
    expect(() => fencingToken(1n << 52n)).toThrow(
      'ZooKeeper gave a lock the transaction number 0x10000000000000, and a fencing token must lie between 0x1 and ' +
        '0xfffffffffffff. Compare it with the Zxid that the four-letter word srvr shows',
    );
    expect(() => fencingToken(-1n)).toThrow('the transaction number -0x1,');
    for (const [transaction, epoch] of [
      [0n, 0n],
      [1n, -1n],
    ] as const) {
      expect(() => fencingToken(transaction, epoch)).not.toThrow(/map|epoch|bits/);
    }
  });
});
