import * as crypto from 'node:crypto';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';

const timingSafeEqual = jest.fn(crypto.timingSafeEqual);
const verify = jest.fn(crypto.verify);
jest.unstable_mockModule('node:crypto', () => ({ ...crypto, timingSafeEqual, verify }));
// After the mock, which the modules that are there already do not get.
const { SigningKeys } = await import('../../../lib/fencing/signed/keys.js');

const TEXT = 'header.payload';

/** Differs in the first byte, where a comparison that stops early would be fastest, or in the last. */
const changed = (signature: Buffer, at: number): Buffer => {
  const copy = Buffer.from(signature);
  copy[at]! ^= 1;
  return copy;
};

describe('A signature is compared in constant time', () => {
  beforeEach(() => void jest.clearAllMocks());

  it('timingSafeEqual compares all bytes for HS256, whatever differs; the length is no secret', () => {
    const secret = crypto.randomBytes(32);
    const keys = new SigningKeys({ issuer: 'me', current: { id: 'h', algorithm: 'HS256', secret } });
    const key = keys.find('h')!;
    const good = keys.current.sign(TEXT);
    const shown = [good, changed(good, 0), changed(good, 31), Buffer.alloc(32)];
    expect(shown.map((signature) => key.verifies(TEXT, signature))).toEqual([true, false, false, false]);
    expect(timingSafeEqual.mock.calls).toEqual(shown.map((signature) => [signature, good]));
    for (const length of [0, 31, 33]) expect(key.verifies(TEXT, Buffer.alloc(length))).toBe(false);
    expect(timingSafeEqual).toHaveBeenCalledTimes(4);
  });

  it('verify of node:crypto compares for Ed25519, and compares nothing that is secret', () => {
    const { privateKey } = crypto.generateKeyPairSync('ed25519');
    const keys = new SigningKeys({ issuer: 'me', current: { id: 'e', algorithm: 'Ed25519', privateKey } });
    const key = keys.find('e')!;
    const good = keys.current.sign(TEXT);
    const shown = [good, changed(good, 0), changed(good, 63), good.subarray(1), Buffer.alloc(0)];
    expect(shown.map((signature) => key.verifies(TEXT, signature))).toEqual([true, false, false, false, false]);
    expect(verify).toHaveBeenCalledTimes(5);
  });
});
