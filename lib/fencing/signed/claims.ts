import { LOCK_MODES, type LockMode } from '../../lock/mode.js';
import { readToken } from '../token-digits.js';
import { parseMembers } from './compact.js';

/** What a signed token says, and what its signature stands for. */
export interface VerifiedToken {
  /** The key of the lock. */
  readonly key: string;
  /** The fencing token. */
  readonly token: bigint;
  /** The mode in which the lock was held; only `exclusive` and `write` give a right to write. */
  readonly mode: LockMode;
  readonly issuedAt: Date;
  readonly issuer: string;
  /** The id of the key that signed the token. */
  readonly keyId: string;
}

/** The last second that a `Date` can have. */
const MAX_SECONDS = 8_640_000_000_000;
const MS_PER_SECOND = 1000;

export type Claims = Omit<VerifiedToken, 'keyId'>;

export function claimsOf({ key, token, mode, issuedAt, issuer }: Claims): object {
  return { key, token: String(token), mode, iat: Math.floor(issuedAt.getTime() / MS_PER_SECOND), iss: issuer };
}

/** Undefined for a payload that no signer of fencing tokens makes. */
export function parseClaims(payload: Buffer): Claims | undefined {
  const members = parseMembers(payload, ['key', 'token', 'mode', 'iat', 'iss']);
  if (members === undefined) return undefined;
  const { key, iat, iss } = members;
  const token = typeof members.token === 'string' ? readToken(members.token) : undefined;
  const mode = LOCK_MODES.find((one) => one === members.mode);
  if (typeof key !== 'string' || !key.startsWith('/') || token === undefined || mode === undefined) return undefined;
  if (typeof iss !== 'string' || iss === '') return undefined;
  if (typeof iat !== 'number' || !(iat >= 0 && iat <= MAX_SECONDS)) return undefined;
  return { key, token, mode, issuedAt: new Date(iat * MS_PER_SECOND), issuer: iss };
}
