import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { CompactSign, compactVerify, jwtVerify, SignJWT } from 'jose';
import { SigningKeys, VerificationKeys } from '../../../lib/fencing/signed/keys.js';
import { signToken, verifyToken } from '../../../lib/fencing/signed/signed-token.js';
import { telling } from '../../support/telling.js';

const LOCK = { key: '/locks/größe/日本', fencingToken: 2n ** 63n - 1n, mode: 'write' } as const;
const secret = randomBytes(32);
const { publicKey, privateKey } = generateKeyPairSync('ed25519');

const KINDS = [
  {
    alg: 'HS256',
    signing: new SigningKeys({ issuer: 'orders', current: { id: 'k', algorithm: 'HS256', secret } }),
    verifying: new VerificationKeys([{ id: 'k', algorithm: 'HS256', secret }]),
    others: { toSign: secret, toVerify: secret },
  },
  {
    alg: 'EdDSA',
    signing: new SigningKeys({ issuer: 'orders', current: { id: 'k', algorithm: 'Ed25519', privateKey } }),
    verifying: new VerificationKeys([{ id: 'k', algorithm: 'Ed25519', publicKey }]),
    others: { toSign: privateKey, toVerify: publicKey },
  },
] as const;

describe.each(KINDS)(
  'a signed token of $alg, as the library jose knows them,',
  ({ alg, signing, verifying, others }) => {
    it('is verified by it as a JWT', async () => {
      const { payload, protectedHeader } = await jwtVerify(signToken(LOCK, signing), others.toVerify, {
        algorithms: [alg],
        issuer: 'orders',
        typ: 'fence+jwt',
        maxTokenAge: 60,
      });

      expect(protectedHeader).toEqual({ alg, kid: 'k', typ: 'fence+jwt' });
      expect(payload).toMatchObject({ key: LOCK.key, token: '9223372036854775807', mode: 'write', iss: 'orders' });
    });

    it('is not verified by it with a letter changed', async () => {
      const [header, payload, signature] = signToken(LOCK, signing).split('.');
      const tampered = `${header}.${payload!.replace(/^./, 'f')}.${signature}`;

      await expect(compactVerify(tampered, others.toVerify)).rejects.toThrow('signature verification failed');
    });

    it('is verified when it signed', async () => {
      const text = await new SignJWT({ key: LOCK.key, token: String(LOCK.fencingToken), mode: LOCK.mode })
        .setProtectedHeader({ alg, kid: 'k', typ: 'fence+jwt' })
        .setIssuer('orders')
        .setIssuedAt()
        .sign(others.toSign);

      const verified = verifyToken(text, verifying, { key: LOCK.key, issuer: 'orders', maxAgeMs: 60_000 });
      expect(verified).toMatchObject({ key: LOCK.key, token: LOCK.fencingToken, mode: 'write', keyId: 'k' });
    });

    it('is refused when it signed something else', async () => {
      const text = await new CompactSign(Buffer.from('{"admin":true}'))
        .setProtectedHeader({ alg, kid: 'k', typ: 'fence+jwt' })
        .sign(others.toSign);

      expect(() => verifyToken(text, verifying)).toThrow(telling('is malformed'));
    });
  },
);
