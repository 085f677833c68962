import { isUtf8 } from 'node:buffer';

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
