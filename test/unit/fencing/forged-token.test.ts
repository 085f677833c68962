import { randomBytes } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { VerificationKeys } from '../../../lib/fencing/signed/keys.js';
import { signToken, verifyToken } from '../../../lib/fencing/signed/signed-token.js';
import { forge, HEADER, hmac, KEY, LOCK, PAIR, PAYLOAD, refusalOf, SECRET } from './support/forge.js';
import { telling } from '../../support/telling.js';

describe('the algorithm of a signed token', () => {
  const both = new VerificationKeys([
    { id: 'h1', algorithm: 'HS256', secret: SECRET },
    { id: 'e1', algorithm: 'Ed25519', publicKey: PAIR.publicKey },
  ]);

  it.each(['none', 'None', 'EdDSA', 'HS512', 'RS256', ''])('is never the one that it names: %p', (alg) => {
    expect(refusalOf(forge({ ...HEADER, alg }, PAYLOAD), both)).toMatch(/but the key h1 is for HS256$/);
  });

  it('is none for nobody, with the signature left out', () => {
    const [, payload] = forge(HEADER, PAYLOAD).split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'fence+jwt', kid: 'h1' })).toString('base64url');
    expect(refusalOf(`${header}.${payload}.`, both)).toContain('is malformed');
    expect(refusalOf(`${header}.${payload}.AA`, both)).toContain('says "none", but the key h1 is for HS256');
  });

  it('is not HMAC with what everybody knows, the public key', () => {
    const forms = [
      Buffer.from(PAIR.publicKey.export({ format: 'pem', type: 'spki' })),
      PAIR.publicKey.export({ format: 'der', type: 'spki' }),
      Buffer.from(PAIR.publicKey.export({ format: 'jwk' }).x!, 'base64url'),
    ];
    for (const publicBytes of forms) {
      const says = { ...HEADER, kid: 'e1' };
      expect(refusalOf(forge(says, PAYLOAD, publicBytes), both)).toContain('says "HS256", but the key e1 is for EdDSA');
      const lies = { ...says, alg: 'EdDSA' };
      expect(refusalOf(forge(lies, PAYLOAD, publicBytes), both)).toContain('has a bad signature');
    }
  });

  it('does not come with the id of another key', () => {
    const text = forge({ ...HEADER, kid: 'h2' }, PAYLOAD);
    const two = new VerificationKeys([
      { id: 'h1', algorithm: 'HS256', secret: SECRET },
      { id: 'h2', algorithm: 'HS256', secret: randomBytes(32) },
    ]);
    expect(refusalOf(text, two)).toContain('has a bad signature: the key h2 did not make it');
    expect(refusalOf(text, both)).toContain('names the key "h2", which is unknown here');
    expect(verifyToken(forge(HEADER, PAYLOAD), two).keyId).toBe('h1');
  });
});

describe('a signed token that is well made', () => {
  const text = signToken(LOCK, hmac, { now: new Date(1_750_000_000_000) });
  const at = (ms: number): Date => new Date(1_750_000_000_000 + ms);

  it('is refused for another lock, and both are named', () => {
    const message = refusalOf(text, hmac, { key: '/locks/orders/43' });
    expect(message).toContain('for /locks/orders/43 is that of another lock, "/locks/orders/42"');
  });

  it('is refused for another issuer', () => {
    expect(refusalOf(text, hmac, { issuer: 'billing' })).toContain(
      'issued by "orders", and has to be issued by "billing"',
    );
  });

  it('is refused when its key is bound to another issuer', () => {
    const bound = new VerificationKeys([{ id: 'h1', algorithm: 'HS256', secret: SECRET, issuer: 'billing' }]);
    expect(refusalOf(text, bound)).toContain('has to be issued by "billing"');
  });

  it('expires only where an age is asked for', () => {
    expect(verifyToken(text, hmac, { now: at(1e12) }).token).toBe(LOCK.fencingToken);
    expect(verifyToken(text, hmac, { now: at(5_000), maxAgeMs: 5_000 }).token).toBe(LOCK.fencingToken);
    expect(refusalOf(text, hmac, { now: at(5_001), maxAgeMs: 5_000 })).toContain('has expired: it is 5001 ms old');
    expect(verifyToken(text, hmac, { now: at(-5_000), maxAgeMs: 5_000 }).token).toBe(LOCK.fencingToken);
    expect(refusalOf(text, hmac, { now: at(-5_001), maxAgeMs: 5_000 })).toContain('the clocks of its signer and');
    expect(refusalOf(text, hmac, { now: at(0), maxAgeMs: Number.NaN })).toContain('has expired');
  });

  it('is in no error, nor is its secret', () => {
    const others = new VerificationKeys([{ id: 'h1', algorithm: 'HS256', secret: randomBytes(32) }]);
    const messages = [
      refusalOf(text, others),
      refusalOf(text, hmac, { key: '/locks/x' }),
      refusalOf(text, hmac, { maxAgeMs: 1 }),
      refusalOf(`${text}A`, hmac),
      refusalOf(forge({ ...HEADER, kid: text }, PAYLOAD), hmac),
    ];
    for (const message of messages) {
      expect(message).not.toContain(text);
      expect(message).not.toContain(text.split('.')[2]!);
      expect(message).not.toContain(SECRET.toString('base64url'));
    }
  });
});

describe('a text with a good signature that is no fencing token', () => {
  const json = JSON.stringify;

  it.each<[string, string | object, string | Buffer | object]>([
    ['a member said twice', HEADER, json(PAYLOAD).replace('{', '{"token":"9",')],
    ['a member said twice, once with escapes', HEADER, json(PAYLOAD).replace('{', '{"\\u0074oken":"9",')],
    ['a member of the header said twice', json(HEADER).replace('{', '{"alg":"none",'), PAYLOAD],
    ['a member too many', HEADER, { ...PAYLOAD, exp: 1 }],
    ['a member of the header too many', { ...HEADER, crit: ['exp'] }, PAYLOAD],
    ['a key to verify with brought along', { ...HEADER, jwk: { kty: 'oct', k: 'AA' } }, PAYLOAD],
    ['another type', { ...HEADER, typ: 'JWT' }, PAYLOAD],
    ['no type', { alg: 'HS256', kid: 'h1' }, PAYLOAD],
    ['an id that is no text', { ...HEADER, kid: 1 }, PAYLOAD],
    ['an algorithm that is no text', { ...HEADER, alg: ['HS256'] }, PAYLOAD],
    ['no member for the issuer', HEADER, { key: KEY, token: '7', mode: 'write', iat: 1 }],
    ['a token as a number', HEADER, { ...PAYLOAD, token: 7 }],
    ['a token of zero', HEADER, { ...PAYLOAD, token: '0' }],
    ['a negative token', HEADER, { ...PAYLOAD, token: '-7' }],
    ['a token with a zero in front', HEADER, { ...PAYLOAD, token: '07' }],
    ['a token of 64 bits', HEADER, { ...PAYLOAD, token: String(2n ** 63n) }],
    ['a token in other digits', HEADER, { ...PAYLOAD, token: '٧' }],
    ['an unknown mode', HEADER, { ...PAYLOAD, mode: 'owner' }],
    ['a mode that every object has', HEADER, { ...PAYLOAD, mode: 'toString' }],
    ['a key that is no path', HEADER, { ...PAYLOAD, key: 'locks' }],
    ['a key that is a list', HEADER, { ...PAYLOAD, key: [KEY] }],
    ['an empty issuer', HEADER, { ...PAYLOAD, iss: '' }],
    ['a time that is a text', HEADER, { ...PAYLOAD, iat: '1750000000' }],
    ['a negative time', HEADER, { ...PAYLOAD, iat: -1 }],
    ['a time beyond all dates', HEADER, json(PAYLOAD).replace('1750000000', '1e400')],
    ['a list', HEADER, [KEY, '7', 'write', 1, 'orders']],
    ['null', HEADER, 'null'],
    ['no JSON', HEADER, 'key=/locks/orders/42'],
    ['more behind the JSON', HEADER, `${json(PAYLOAD)}{}`],
    ['a byte order mark', HEADER, `\uFEFF${json(PAYLOAD)}`],
    ['broken UTF-8', HEADER, Buffer.concat([Buffer.from(json(PAYLOAD).slice(0, -2)), Buffer.from([0xff, 0x22, 0x7d])])],
  ])('is refused: %s', (_what, header, payload) => {
    expect(verifyToken(forge(HEADER, PAYLOAD), hmac).token).toBe(7n);
    expect(refusalOf(forge(header, payload), hmac)).toContain('is malformed');
  });

  it('may have its members in any order, with spaces, as other signers write them', () => {
    const { key, ...others } = PAYLOAD;
    const spaced = JSON.stringify({ ...others, key: `${key}","token":"9` }, undefined, 2);
    expect(verifyToken(forge(HEADER, spaced), hmac)).toMatchObject({ key: `${KEY}","token":"9`, token: 7n });
  });

  it('is refused by its length before anything of it is read', () => {
    const huge = forge(HEADER, { ...PAYLOAD, key: `/${'x'.repeat(20_000_000)}` });
    const reading = [jest.spyOn(Buffer, 'from'), jest.spyOn(JSON, 'parse'), jest.spyOn(String.prototype, 'split')];
    try {
      expect(() => verifyToken(huge, hmac)).toThrow(telling('is malformed'));
      for (const spy of reading) expect(spy).not.toHaveBeenCalled();
    } finally {
      for (const spy of reading) spy.mockRestore();
    }
  });

  it.each([undefined, null, 42, 42n, {}, ['a.b.c'], ''])('is refused: %p', (value) => {
    expect(refusalOf(value, hmac)).toContain('is malformed');
  });
});
