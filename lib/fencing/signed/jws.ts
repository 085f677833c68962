import { isUtf8 } from 'node:buffer';
import { LOCK_MODES, type LockMode } from '../../lock/mode.js';
import { readToken } from '../token.js';

/** Three parts in base64url between dots: RFC 7515, 7.1. */
export interface CompactToken {
  readonly header: Buffer;
  readonly payload: Buffer;
  readonly signature: Buffer;
  /** The text that was signed. */
  readonly signed: string;
}

/** Less than HTTP servers take for all headers together. */
export const MAX_TOKEN_LENGTH = 8 * 1024;
const THREE_PARTS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Takes a token apart; undefined for a text that is none. Each token has one text: bits that carry nothing must be 0. */
export function parseCompact(text: string): CompactToken | undefined {
  if (text.length > MAX_TOKEN_LENGTH || !THREE_PARTS.test(text)) return undefined;
  const parts = text.split('.');
  const [header, payload, signature] = parts.map((part) => Buffer.from(part, 'base64url'));
  if (header === undefined || payload === undefined || signature === undefined) return undefined;
  if ([header, payload, signature].some((bytes, index) => bytes.toString('base64url') !== parts[index]))
    return undefined;
  return { header, payload, signature, signed: text.slice(0, text.lastIndexOf('.')) };
}

export function encodePart(members: object): string {
  return Buffer.from(JSON.stringify(members), 'utf8').toString('base64url');
}

/** A string of JSON, and whether it is the name of a member. */
const STRINGS = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/**
 * Parses a JSON object of exactly these members, none of them an object or a list; undefined for any other. An object that
 * has a member twice is refused, too: parsers differ in which of the two counts.
 */
export function parseMembers<Name extends string>(
  bytes: Buffer,
  names: readonly Name[],
): Readonly<Record<Name, unknown>> | undefined {
  const text = isUtf8(bytes) ? bytes.toString('utf8') : '';
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const given = [...text.matchAll(STRINGS)].filter(([, colon]) => colon !== undefined);
  const isFlat = Object.values(value).every((member) => typeof member !== 'object');
  const isComplete = names.every((name) => Object.hasOwn(value, name));
  return isFlat && isComplete && given.length === names.length ? (value as Record<Name, unknown>) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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
