import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SigningKeys, VerificationKeys } from '../../../lib/fencing/signed/keys.js';
import { signToken, verifyToken } from '../../../lib/fencing/signed/signed-token.js';
import { InvalidFencingTokenError, LockConfigurationError } from '../../../lib/lock/errors.js';
import { LOCK_MODES } from '../../../lib/lock/mode.js';
import { ed25519, hmac, KEY, LOCK, PAIR, refusalOf, SECRET } from './support/forge.js';

const BOTH = [
  ['HS256', hmac],
  ['EdDSA', ed25519],
] as const;

describe.each(BOTH)('a token signed with %s', (algorithm, keys) => {
  it('says the same to who verifies it, whatever key, token and mode', () => {
    const keyText = fc.string({ unit: 'grapheme', maxLength: 80 }).map((text) => `/${text}`);
    const token = fc.oneof(
      fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
      fc.constantFrom(1n, 2n ** 53n + 1n, 2n ** 63n - 1n),
    );
    fc.assert(
      fc.property(keyText, token, fc.constantFrom(...LOCK_MODES), (key, fencingToken, mode) => {
        const now = new Date('2025-06-01T12:00:00.987Z');
        const text = signToken({ key, fencingToken, mode }, keys, { now });
        expect(text).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
        expect(verifyToken(text, keys, { key, issuer: 'orders', maxAgeMs: 1_000, now })).toEqual({
          key,
          token: fencingToken,
          mode,
          issuedAt: new Date('2025-06-01T12:00:00Z'),
          issuer: 'orders',
          keyId: keys.currentId,
        });
      }),
      { numRuns: 300 },
    );
  });

  it('is a JWS in compact form, with the token in digits', () => {
    const [header, payload] = signToken(LOCK, keys, { now: new Date(1_750_000_000_999) })
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString());

    expect(JSON.parse(header!)).toEqual({ alg: algorithm, kid: keys.currentId, typ: 'fence+jwt' });
    expect(JSON.parse(payload!)).toEqual({
      key: KEY,
      token: '21474836490',
      mode: 'exclusive',
      iat: 1_750_000_000,
      iss: 'orders',
    });
  });

  it('is refused with any one bit of it flipped', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const text = signToken(LOCK, keys);
    let accepted = 0;
    for (let at = 0; at < text.length; at++) {
      for (let bit = 0; bit < 6; bit++) {
        const flipped = text[at] === '.' ? 'A' : alphabet[alphabet.indexOf(text[at]!) ^ (1 << bit)]!;
        const tampered = text.slice(0, at) + flipped + text.slice(at + 1);
        try {
          verifyToken(tampered, keys);
          accepted++;
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidFencingTokenError);
        }
      }
    }
    expect(accepted).toBe(0);
  });

  it('is refused when cut, lengthened, padded or written in another way', () => {
    const text = signToken(LOCK, keys);
    for (let length = 0; length < text.length; length++) refusalOf(text.slice(0, length), keys);
    const [header, payload, signature] = text.split('.');
    const others = [
      `${text}.`,
      `${text}.e30`,
      `.${text}`,
      ` ${text}`,
      `${text}\n`,
      `${text}=`,
      `${header}=.${payload}.${signature}`,
      `${header}..${signature}`,
      `${header}.${payload}.`,
      text.replace('.', '..'),
      `${header}.${payload}.${Buffer.from(signature!, 'base64url').toString('base64').replace(/=+$/, '')}+`,
      `Bearer ${text}`,
    ];
    for (const other of others) expect(refusalOf(other, keys)).toContain('is malformed');
  });

  it('has one text: the bits at the end of its signature that say nothing are 0', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const text = signToken(LOCK, keys);
    const sameBytes = text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1)!) + 1]!;

    expect(Buffer.from(sameBytes.split('.')[2]!, 'base64url')).toEqual(Buffer.from(text.split('.')[2]!, 'base64url'));
    expect(refusalOf(sameBytes, keys)).toContain('is malformed');
  });
});

describe('The signer', () => {
  it.each<[string, unknown]>([
    ['no lock', undefined],
    ['a token that is a number', { ...LOCK, fencingToken: 7 }],
    ['a token in digits', { ...LOCK, fencingToken: '7' }],
    ['a token of 64 bits', { ...LOCK, fencingToken: 2n ** 63n }],
    ['a token of zero', { ...LOCK, fencingToken: 0n }],
    ['an unknown mode', { ...LOCK, mode: 'owner' }],
    ['a key that is no path', { ...LOCK, key: 'orders' }],
  ])('refuses %s', (_what, lock) => {
    expect(() => signToken((lock ?? {}) as typeof LOCK, hmac)).toThrow('signToken: must be given a lock');
  });

  it('refuses a key that makes a token too long to be sent, and takes the longest that does not', () => {
    expect(() => signToken({ ...LOCK, key: `/${'x'.repeat(8_000)}` }, hmac)).toThrow(/makes a token of \d+, and 8192/);
    const longest = signToken({ ...LOCK, key: `/${'x'.repeat(5_800)}` }, hmac);
    expect(longest.length).toBeGreaterThan(7_500);
    expect(verifyToken(longest, hmac).token).toBe(LOCK.fencingToken);
  });

  it('refuses, as the verifier does, keys that were not checked at their construction', () => {
    const plain = { issuer: 'x', current: { id: 'h1', algorithm: 'HS256', secret: SECRET } };
    expect(() => signToken(LOCK, plain as never)).toThrow(
      /signToken: the keys must be made once, with new SigningKeys/,
    );
    expect(() => verifyToken('', plain as never)).toThrow(LockConfigurationError);
    const verifying = new VerificationKeys([{ id: 'h1', algorithm: 'HS256', secret: SECRET }]);
    expect(() => signToken(LOCK, verifying as never)).toThrow('new SigningKeys(...)');
  });
});

describe('A change of the key', () => {
  it('goes in three steps, in each of which tokens of the one before are accepted', () => {
    const old = { id: '2025', algorithm: 'HS256', secret: randomBytes(32) } as const;
    const next = { id: '2026', algorithm: 'Ed25519', privateKey: PAIR.privateKey } as const;
    const before = new SigningKeys({ issuer: 'orders', current: old });
    const handedOut = new SigningKeys({ issuer: 'orders', current: old, accepted: [next] });
    const changed = new SigningKeys({ issuer: 'orders', current: next, accepted: [old] });
    const after = new SigningKeys({ issuer: 'orders', current: next });
    const steps = [before, handedOut, changed, after];

    for (const [index, signer] of steps.entries()) {
      for (const verifier of steps.slice(Math.max(0, index - 1), index + 2)) {
        expect(verifyToken(signToken(LOCK, signer), verifier).keyId).toBe(signer.currentId);
      }
    }
    expect(refusalOf(signToken(LOCK, before), after)).toContain('names the key "2025", which is unknown here');
  });
});
