import { createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import {
  SigningKeys,
  type SigningKeysOptions,
  type VerificationKey,
  VerificationKeys,
} from '../../../lib/fencing/signed/keys.js';
import { signToken, verifyToken } from '../../../lib/fencing/signed/signed-token.js';
import { LockConfigurationError } from '../../../lib/lock/errors.js';

const LOCK = { key: '/locks/a', fencingToken: 5n, mode: 'exclusive' } as const;
const SECRET = randomBytes(32);
const TEXT = 'correct horse battery staple, and four more';
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
const publicPem = publicKey.export({ format: 'pem', type: 'spki' }) as string;
const privatePem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
const publicJwk = publicKey.export({ format: 'jwk' });
const privateJwk = privateKey.export({ format: 'jwk' });

function refusalOf(make: () => unknown): LockConfigurationError {
  try {
    make();
  } catch (error) {
    if (error instanceof LockConfigurationError) return error;
    throw error;
  }
  throw new Error('Not refused');
}

describe('a key', () => {
  it.each<[string, unknown]>([
    ['bytes', SECRET],
    ['bytes without Buffer', new Uint8Array(SECRET)],
    ['a KeyObject', createSecretKey(SECRET)],
    ['a JWK', { kty: 'oct', k: SECRET.toString('base64url'), alg: 'HS256', kid: 'h' }],
  ])('may be for HS256 %s', (_what, secret) => {
    const current = { id: 'h', algorithm: 'HS256', secret } as SigningKeysOptions['current'];
    const text = signToken(LOCK, new SigningKeys({ issuer: 'me', current }));
    expect(verifyToken(text, new VerificationKeys([{ id: 'h', algorithm: 'HS256', secret: SECRET }])).token).toBe(5n);
  });

  it('may be for HS256 a text, which stands for its UTF-8 bytes', () => {
    const keys = new SigningKeys({ issuer: 'me', current: { id: 'h', algorithm: 'HS256', secret: TEXT } });
    const bytes = new VerificationKeys([{ id: 'h', algorithm: 'HS256', secret: Buffer.from(TEXT) }]);
    expect(verifyToken(signToken(LOCK, keys), bytes).token).toBe(5n);
  });

  it.each<[string, unknown, unknown]>([
    ['PEM', privatePem, publicPem],
    ['a KeyObject', privateKey, publicKey],
    ['a JWK', privateJwk, publicJwk],
    ['a JWK that names its algorithm', { ...privateJwk, alg: 'EdDSA' }, { ...publicJwk, alg: 'Ed25519' }],
  ])('may be for Ed25519 %s', (_what, secretHalf, publicHalf) => {
    const current = { id: 'e', algorithm: 'Ed25519', privateKey: secretHalf } as SigningKeysOptions['current'];
    const signing = new SigningKeys({ issuer: 'me', current });
    const verifying = new VerificationKeys([
      { id: 'e', algorithm: 'Ed25519', publicKey: publicHalf } as VerificationKey,
    ]);
    const text = signToken(LOCK, signing);
    expect([verifyToken(text, signing).token, verifyToken(text, verifying).token]).toEqual([5n, 5n]);
  });

  it.each<[string, unknown, string]>([
    ['a secret of 31 bytes', { algorithm: 'HS256', secret: randomBytes(31) }, 'secret has 31 bytes; HS256 needs 32'],
    ['a short text', { algorithm: 'HS256', secret: 'secret' }, 'secret has 6 bytes'],
    ['an empty secret', { algorithm: 'HS256', secret: '' }, 'secret has 0 bytes'],
    ['no secret', { algorithm: 'HS256' }, 'secret must be a text, bytes, a KeyObject or a JWK, not undefined'],
    ['a number for a secret', { algorithm: 'HS256', secret: 42 }, 'not a number'],
    ['an object for a secret', { algorithm: 'HS256', secret: {} }, 'not an object without "kty"'],
    ['a public PEM for a secret', { algorithm: 'HS256', secret: publicPem }, 'secret is a PEM text'],
    ['a public KeyObject for a secret', { algorithm: 'HS256', secret: publicKey }, 'secret is a public key, no secret'],
    ['a public JWK for a secret', { algorithm: 'HS256', secret: publicJwk }, 'must be a JWK with kty "oct"'],
    [
      'a secret JWK for another algorithm',
      { algorithm: 'HS256', secret: { kty: 'oct', k: SECRET.toString('base64url'), alg: 'HS512' } },
      'secret is a JWK for another algorithm',
    ],
    [
      'a JWK with padding',
      { algorithm: 'HS256', secret: { kty: 'oct', k: SECRET.toString('base64') } },
      'not base64url',
    ],
    ['a short JWK', { algorithm: 'HS256', secret: { kty: 'oct', k: 'c2hvcnQ' } }, 'secret has 5 bytes'],
    ['another algorithm', { algorithm: 'RS256', secret: SECRET }, 'algorithm must be HS256 or Ed25519, not RS256'],
    ['the name of the header', { algorithm: 'EdDSA', publicKey }, 'must be HS256 or Ed25519, not EdDSA'],
    ['no public key', { algorithm: 'Ed25519' }, 'publicKey must be a PEM text, a KeyObject or a JWK, not undefined'],
    ['a text that is no PEM', { algorithm: 'Ed25519', publicKey: 'ssh-ed25519 AAAA' }, 'no PEM'],
    ['half a PEM', { algorithm: 'Ed25519', publicKey: publicPem.slice(0, 60) }, 'publicKey cannot be read'],
    ['an RSA key', { algorithm: 'Ed25519', publicKey: rsa.publicKey }, 'publicKey is a key for rsa, not for Ed25519'],
    ['an RSA JWK', { algorithm: 'Ed25519', publicKey: rsa.publicKey.export({ format: 'jwk' }) }, 'kty "OKP"'],
    ['a secret KeyObject', { algorithm: 'Ed25519', publicKey: createSecretKey(SECRET) }, 'publicKey is a secret key'],
    ['a private KeyObject to verify', { algorithm: 'Ed25519', publicKey: privateKey }, 'publicKey is a private key'],
    ['a private PEM to verify', { algorithm: 'Ed25519', publicKey: privatePem }, 'publicKey is a private key'],
    ['a private JWK to verify', { algorithm: 'Ed25519', publicKey: privateJwk }, 'publicKey is a private key'],
    ['a JWK with a broken x', { algorithm: 'Ed25519', publicKey: { ...publicJwk, x: 'AA' } }, 'cannot be read'],
    ['an empty issuer', { algorithm: 'HS256', secret: SECRET, issuer: '' }, 'issuer must be a non-empty text'],
  ])('is refused before its first use: %s', (_what, key, expected) => {
    const { message } = refusalOf(() => new VerificationKeys([{ id: 'k1', ...(key as object) } as VerificationKey]));
    expect(message).toMatch(/^VerificationKeys: key "k1": /);
    expect(message).toContain(expected);
  });

  it.each<[string, unknown, string]>([
    ['a public KeyObject', publicKey, 'privateKey is a public key; signing needs the private one'],
    ['a public PEM', publicPem, 'privateKey cannot be read'],
    ['a public JWK', publicJwk, 'privateKey is a JWK without "d"'],
    ['an RSA key', rsa.privateKey, 'privateKey is a key for rsa'],
    ['nothing', undefined, 'privateKey must be a PEM text, a KeyObject or a JWK'],
  ])('is refused, where it is to sign with: %s', (_what, key, expected) => {
    const current = { id: 'k1', algorithm: 'Ed25519', privateKey: key } as SigningKeysOptions['current'];
    const { message } = refusalOf(() => new SigningKeys({ issuer: 'me', current }));
    expect(message).toMatch(/^SigningKeys: key "k1": /);
    expect(message).toContain(expected);
  });

  it.each([undefined, '', 'two words', 'ü', 'new\nline', 'x'.repeat(129), 42])('must have an id, not %p', (id) => {
    const key = { id, algorithm: 'HS256', secret: SECRET } as VerificationKey;
    expect(refusalOf(() => new VerificationKeys([key])).message).toContain('a key must have an id');
  });
});

describe('a set of keys', () => {
  const hmac = { id: 'h', algorithm: 'HS256', secret: SECRET } as const;

  it('has each id once', () => {
    const same = { id: 'h', algorithm: 'Ed25519', publicKey } as const;
    expect(refusalOf(() => new VerificationKeys([hmac, same])).message).toContain('another key with this id');
    expect(refusalOf(() => new SigningKeys({ issuer: 'me', current: hmac, accepted: [same] })).message).toContain(
      'SigningKeys: key "h": there is another key with this id',
    );
  });

  it.each<[string, () => unknown, string]>([
    ['no list', () => new VerificationKeys(hmac as never), 'a list of keys, not empty'],
    ['an empty list', () => new VerificationKeys([]), 'a list of keys, not empty'],
    ['a list with nothing in it', () => new VerificationKeys([undefined as never]), 'a key must have an id'],
    ['nothing to sign with', () => new SigningKeys(undefined as never), 'must be given { issuer, current'],
    ['no current key', () => new SigningKeys({ issuer: 'me' } as never), 'a key must have an id'],
    ['no issuer', () => new SigningKeys({ current: hmac } as never), 'issuer must be a non-empty text'],
    [
      'a public key to sign with',
      () => new SigningKeys({ issuer: 'me', current: { id: 'e', algorithm: 'Ed25519', publicKey } as never }),
      'privateKey must be',
    ],
    [
      'accepted that are no list',
      () => new SigningKeys({ issuer: 'me', current: hmac, accepted: hmac as never }),
      'accepted must be a list',
    ],
  ])('is refused: %s', (_what, make, expected) => {
    expect(refusalOf(make).message).toContain(expected);
  });

  it('shows nothing of a key but its id, whoever prints, logs or copies it', () => {
    const signing = new SigningKeys({
      issuer: 'me',
      current: { id: 'text', algorithm: 'HS256', secret: TEXT },
      accepted: [hmac, { id: 'pair', algorithm: 'Ed25519', privateKey }],
    });
    const verifying = new VerificationKeys([{ id: 'text', algorithm: 'HS256', secret: TEXT }, hmac]);
    const printed = [signing, verifying, signing.current, signing.find('h')]
      .flatMap((keys) => [
        JSON.stringify(keys),
        inspect(keys, { depth: 10, showHidden: true }),
        JSON.stringify({ ...keys }),
        Object.entries(keys ?? {})
          .flat(3)
          .join(),
      ])
      .join('\n');

    expect(printed).toContain('pair');
    const secrets = [
      TEXT,
      Buffer.from(TEXT).toString('base64'),
      SECRET.toString('base64'),
      SECRET.toString('hex'),
      privateJwk.d!,
    ];
    for (const secret of secrets) expect(printed).not.toContain(secret);
    expect(printed).not.toMatch(/secret|private/i);
    expect(printed).not.toContain(inspect(SECRET).slice('<Buffer '.length, -1));
  });

  it('shows nothing of a key that it refuses', () => {
    const short = 'a short secret';
    const broken = [
      () => new VerificationKeys([{ id: 'h', algorithm: 'HS256', secret: short }]),
      () => new VerificationKeys([{ id: 'h', algorithm: 'HS256', secret: { kty: 'oct', k: `${short} ` } }]),
      () => new SigningKeys({ issuer: 'me', current: { id: 'e', algorithm: 'Ed25519', privateKey: short } }),
      () =>
        new SigningKeys({
          issuer: 'me',
          current: { id: 'e', algorithm: 'Ed25519', privateKey: { ...privateJwk, x: 7 as never } },
        }),
      () => new VerificationKeys([{ id: 'e', algorithm: 'Ed25519', publicKey: privatePem }]),
    ];
    for (const make of broken) {
      const printed = inspect(refusalOf(make), { depth: 10, showHidden: true });
      for (const secret of [short, privateJwk.d!, privatePem.split('\n')[1]!]) expect(printed).not.toContain(secret);
    }
  });
});
