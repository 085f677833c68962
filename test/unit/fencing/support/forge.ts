import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { SigningKeys, type VerificationKeys } from '../../../../lib/fencing/signed/keys.js';
import { type ExpectedToken, verifyToken } from '../../../../lib/fencing/signed/signed-token.js';
import { InvalidFencingTokenError } from '../../../../lib/lock/errors.js';
import type { LockMode } from '../../../../lib/lock/mode.js';

export const KEY = '/locks/orders/42';
export const LOCK = { key: KEY, fencingToken: 21_474_836_490n, mode: 'exclusive' as LockMode };
export const SECRET = randomBytes(32);
export const PAIR = generateKeyPairSync('ed25519');

export const hmac = new SigningKeys({ issuer: 'orders', current: { id: 'h1', algorithm: 'HS256', secret: SECRET } });
export const ed25519 = new SigningKeys({
  issuer: 'orders',
  current: { id: 'e1', algorithm: 'Ed25519', privateKey: PAIR.privateKey },
});
/** With what words a text is refused. */
export function refusalOf(text: unknown, keys: VerificationKeys, expected?: ExpectedToken): string {
  try {
    verifyToken(text as string, keys, expected);
  } catch (error) {
    if (error instanceof InvalidFencingTokenError) return error.details;
    throw error;
  }
  throw new Error(`Not refused: ${String(text)}`);
}

/** A token with any parts at all, signed as if it were right. */
export function forge(header: string | object, payload: string | Buffer | object, secret: Buffer = SECRET): string {
  const encode = (part: string | Buffer | object): string =>
    (Buffer.isBuffer(part) ? part : Buffer.from(typeof part === 'string' ? part : JSON.stringify(part))).toString(
      'base64url',
    );
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

export const HEADER = { alg: 'HS256', kid: 'h1', typ: 'fence+jwt' };
export const PAYLOAD = { key: KEY, token: '7', mode: 'write', iat: 1_750_000_000, iss: 'orders' };
