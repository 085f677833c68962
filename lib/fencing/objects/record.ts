import { randomBytes } from 'node:crypto';
import { LockConfigurationError } from '../../lock/errors.js';
import { visible } from '../../lock/visible.js';
import { readToken } from '../token.js';

/** Of so many writes an object knows the names. A write that is found behind more of them cannot be told from one that was not done. */
export const KEPT_WRITES = 32;

/** What an object holds: one line about its writes, and the content. */
export interface ObjectRecord {
  /** The highest token that was shown. */
  readonly token: bigint;
  /** How many writes the object has had. */
  readonly count: number;
  /** The names of the last ones, the last one first. */
  readonly writes: readonly string[];
  /** undefined: it was removed, and the token is kept. */
  readonly content: Buffer | undefined;
}

/** A name for a write that no other has. It also gives each version an ETag of its own, whatever the content is. */
export function newWriteName(): string {
  return randomBytes(12).toString('base64url');
}

export function nextRecord(
  before: ObjectRecord | undefined,
  write: string,
  token: bigint,
  content: Buffer | undefined,
): ObjectRecord {
  const writes = [write, ...(before?.writes ?? [])].slice(0, KEPT_WRITES);
  return { token, count: (before?.count ?? 0) + 1, writes, content };
}

export function encodeRecord({ token, count, writes, content }: ObjectRecord): Buffer {
  const line = { fencing: 1, token: token.toString(), count, writes, ...(content === undefined && { removed: true }) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(line)}\n`), content ?? Buffer.alloc(0)]);
}

/** @throws LockConfigurationError for an object that somebody else has written */
export function decodeRecord(name: string, body: Uint8Array): ObjectRecord {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const end = bytes.indexOf('\n');
  const line = end < 0 ? undefined : readLine(bytes.toString('utf8', 0, end));
  if (line === undefined) throw foreign(name);
  const { isRemoved, ...known } = line;
  return { ...known, content: isRemoved ? undefined : bytes.subarray(end + 1) };
}

function readLine(text: string): (Omit<ObjectRecord, 'content'> & { readonly isRemoved: boolean }) | undefined {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof line !== 'object' || line === null) return undefined;
  const { fencing, token: digits, count, writes, removed } = line as Readonly<Record<string, unknown>>;
  const token = typeof digits === 'string' ? readToken(digits) : undefined;
  if (fencing !== 1 || token === undefined || typeof count !== 'number' || !Number.isSafeInteger(count))
    return undefined;
  if (!Array.isArray(writes) || writes.some((write) => typeof write !== 'string')) return undefined;
  return { token, count, writes: writes as string[], isRemoved: removed === true };
}

/** Whether a write that was made over `before` is in what is there now; undefined: that cannot be told. */
export function isIn(
  now: ObjectRecord | undefined,
  before: ObjectRecord | undefined,
  write: string,
): boolean | undefined {
  const writesSince = (now?.count ?? 0) - (before?.count ?? 0);
  if (writesSince === 0) return false;
  // With a smaller count somebody has deleted the object, and it was made anew.
  if (writesSince < 0 || now === undefined || writesSince > now.writes.length) return undefined;
  // The condition lets it be the next one behind `before`, or nothing.
  return now.writes[writesSince - 1] === write;
}

function foreign(name: string): LockConfigurationError {
  return new LockConfigurationError(
    `The object ${visible(name)} was not written by FencedObjects: it has no line with a fencing token in front. Nothing was ` +
      'written. Take another name, or delete the object',
    name,
  );
}
