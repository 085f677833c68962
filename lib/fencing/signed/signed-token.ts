import { LockConfigurationError } from '../../lock/errors.js';
import { LOCK_MODES, type LockMode } from '../../lock/mode.js';
import { SigningKeys, VerificationKeys } from './keys.js';
import {
  claimsOf,
  parseClaims,
  type VerifiedToken,
  encodePart,
  MAX_TOKEN_LENGTH,
  parseCompact,
  parseMembers,
} from './jws.js';
import { wrongSignedToken } from '../refusals.js';
import { quoted } from '../shown.js';
import { readToken } from '../token.js';

/** The part of a lock that is signed; a `LockHandle` has it. */
export interface SignableLock {
  readonly key: string;
  readonly fencingToken: bigint;
  readonly mode: LockMode;
}

export interface SignTokenOptions {
  /** The time that stands in the token. @default now */
  readonly now?: Date;
}

/** What a token must say besides being signed. */
export interface ExpectedToken {
  /** The lock that it must be of. */
  readonly key?: string;
  readonly issuer?: string;
  /** How old the token may be, in milliseconds by the wall clocks of both sides; tokens know whole seconds. @default any age */
  readonly maxAgeMs?: number;
  /** @default now */
  readonly now?: Date;
}

const TYPE = 'fence+jwt';
const MAX_SHOWN = 200;

/**
 * The token of a lock as a text that others can verify: a JWS in compact form (RFC 7515), which any JOSE library reads.
 * It goes where the number would: to a store, or as a `Fencing-Token` header. It does not expire with the lock: the store
 * that compares it with the highest it has seen refuses it then.
 *
 * @throws LockConfigurationError for what is no lock, or has a key too long to be sent
 */
export function signToken(lock: SignableLock, keys: SigningKeys, options: SignTokenOptions = {}): string {
  checkKeys(keys, SigningKeys, 'signToken');
  const { key, fencingToken: token, mode } = lock;
  const isLock = typeof key === 'string' && key.startsWith('/') && LOCK_MODES.includes(mode);
  if (!isLock || typeof token !== 'bigint' || readToken(token) === undefined) {
    throw new LockConfigurationError('signToken: must be given a lock: { key, fencingToken, mode }, or its LockHandle');
  }
  const header = encodePart({ alg: keys.current.algorithm, kid: keys.currentId, typ: TYPE });
  const payload = encodePart(claimsOf({ key, token, mode, issuer: keys.issuer, issuedAt: options.now ?? new Date() }));
  const signed = `${header}.${payload}`;
  const text = `${signed}.${keys.current.sign(signed).toString('base64url')}`;
  if (text.length <= MAX_TOKEN_LENGTH) return text;
  throw new LockConfigurationError(
    `signToken: the key of ${key.length} characters makes a token of ${text.length}, and ${MAX_TOKEN_LENGTH} are the most ` +
      'that can be sent: use a shorter key',
    key,
  );
}

/**
 * Verifies a signed token, and returns what it says. The algorithm is that of our key with the token's key id, whatever the
 * token says of itself.
 *
 * A token shows that somebody held the lock, not that it is held now: for that a store compares it with the highest one that
 * the resource has seen. A mode of `read` or `upgradeable` gives no right to write; stores refuse it.
 *
 * @throws InvalidFencingTokenError that says which: malformed, unknown key, bad signature, another lock's, too old, another issuer
 */
export function verifyToken(text: string, keys: VerificationKeys, expected: ExpectedToken = {}): VerifiedToken {
  checkKeys(keys, VerificationKeys, 'verifyToken');
  const refuse = (what: string): never => {
    throw wrongSignedToken(expected.key, what);
  };
  const malformed = (): never => refuse(`is malformed: it must be what signToken() gives, a JWS of type ${TYPE}`);

  const compact = typeof text === 'string' ? parseCompact(text) : undefined;
  const header = compact === undefined ? undefined : parseMembers(compact.header, ['alg', 'kid', 'typ']);
  if (compact === undefined || header === undefined) return malformed();
  const { alg, kid, typ } = header;
  if (typeof alg !== 'string' || typeof kid !== 'string' || typ !== TYPE) return malformed();
  // Only our own key says which algorithm counts. A token that chose it could have a public key taken for a secret.
  const key = keys.find(kid);
  if (key === undefined)
    return refuse(
      `names the key ${quoted(kid, MAX_SHOWN)}, which is unknown here: rotated away, or not yet handed out`,
    );
  if (alg !== key.algorithm)
    return refuse(`says ${quoted(alg, MAX_SHOWN)}, but the key ${kid} is for ${key.algorithm}`);
  if (!key.verifies(compact.signed, compact.signature))
    return refuse(`has a bad signature: the key ${kid} did not make it`);

  const claims = parseClaims(compact.payload) ?? malformed();
  if (expected.key !== undefined && claims.key !== expected.key)
    return refuse(`is that of another lock, ${quoted(claims.key, MAX_SHOWN)}`);
  for (const issuer of [key.issuer, expected.issuer]) {
    if (issuer !== undefined && claims.issuer !== issuer) {
      return refuse(
        `was issued by ${quoted(claims.issuer, MAX_SHOWN)}, and has to be issued by ${quoted(issuer, MAX_SHOWN)}`,
      );
    }
  }
  const misaged = whyNotOfThisAge(claims.issuedAt, expected);
  return misaged === undefined ? { ...claims, keyId: kid } : refuse(misaged);
}

function whyNotOfThisAge(issuedAt: Date, { maxAgeMs, now = new Date() }: ExpectedToken): string | undefined {
  // A token from the future would be accepted for too long, so it may not be ahead by more than `maxAgeMs` either.
  const ageMs = now.getTime() - issuedAt.getTime();
  if (maxAgeMs === undefined || Math.abs(ageMs) <= maxAgeMs) return undefined;
  return ageMs < 0
    ? `is of ${issuedAt.toISOString()}, ${-ageMs} ms from now: the clocks of its signer and of this machine differ`
    : `has expired: it is ${ageMs} ms old, and ${maxAgeMs} ms are accepted. Sign the lock's token again`;
}

function checkKeys<K>(keys: K, type: abstract new (...args: never[]) => K, by: string): void {
  if (keys instanceof type) return;
  throw new LockConfigurationError(`${by}: the keys must be made once, with new ${type.name}(...), which checks them`);
}
