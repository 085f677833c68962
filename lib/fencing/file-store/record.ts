import { crc32 } from 'node:zlib';
import { LockConfigurationError } from '../../lock/errors.js';

/**
 * What a record does to the file, besides showing its token: `base` is the whole state at the beginning of a journal,
 * `claim` does nothing more, `seal` ends the journal.
 */
const KINDS = ['base', 'write', 'append', 'claim', 'remove', 'seal'] as const;
export type RecordKind = (typeof KINDS)[number];

export interface JournalRecord {
  readonly kind: RecordKind;
  readonly token: bigint;
  /** Names this one attempt to write. Without it, two writers of the same bytes could take each other's record for their own. */
  readonly id: string;
  /** This record counts only if the record with this id is still the last one that changed the content. */
  readonly onlyAfter?: string | undefined;
  /** How far its writer had read. A record that begins a journal says nothing of it. */
  readonly seen?: Seen;
  readonly payload: Uint8Array;
}

/** How far a journal was read, and how many records were found up to there. */
export interface Seen {
  readonly to: number;
  readonly records: number;
}

export const LINE_FEED = 0x0a;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;
/**
 * Every record brings the end of its predecessor's line with it. Behind a whole record this makes a line of its own, which
 * says nothing. Behind a torn one it makes a line that ends in `!`, and a whole one ends in `;`: what was cut off, be it by
 * its very last byte, is never made whole by what comes after it.
 */
const BEGIN = Buffer.from('!\n');
const END = Buffer.from(';\n');
const END_MARK = 0x3b;
/** Ends a line that its writer left without an end, and that the next writer ended. */
export const CUT_MARK = 0x21;

const ANY_CONTENT = '*';
const NOTHING_SEEN: Seen = { to: 0, records: 0 };
const HEADER =
  /^((?:0|[1-9]\d{0,18}) ([a-z]{1,20}) ([\w-]{1,40}) (\*|[\w-]{1,40}) (0|[1-9]\d{0,15}) (0|[1-9]\d{0,15}) (0|[1-9]\d{0,9})) ([0-9a-f]{8}) /;
const PART_OF_HEADER = /^[\w* -]*$/;
const MAX_HEADER_BYTES = 192;

/** The bytes of a record. One call must write all of them, so that they are not mixed with those of another record. */
export function encodeRecord(record: JournalRecord): Buffer {
  const { kind, token, id, onlyAfter = ANY_CONTENT, seen = NOTHING_SEEN, payload } = record;
  const header = `${token} ${kind} ${id} ${onlyAfter} ${seen.to} ${seen.records} ${payload.length}`;
  return Buffer.concat([BEGIN, Buffer.from(`${header} ${checksum(header, payload)} `), escapeBytes(payload), END]);
}

/**
 * The record of a line (without its line feed), or `undefined` where there is none: between records, torn, or garbage.
 * @throws LockConfigurationError for a whole record of a kind that this version does not know
 */
export function parseLine(line: Buffer): (JournalRecord & { readonly seen: Seen }) | undefined {
  if (line.at(-1) !== END_MARK) return undefined;
  const start = headerOf(line);
  if (start === null) return undefined;
  const [prefix, header = '', kind = '', id = '', after, seenTo, seenRecords, length, sum] = start;
  const payload = unescapeBytes(line.subarray(prefix.length, -1));
  if (payload?.length !== Number(length) || checksum(header, payload) !== sum) return undefined;
  const token = BigInt(header.slice(0, header.indexOf(' ')));
  const onlyAfter = after === ANY_CONTENT ? undefined : after;
  const seen = { to: Number(seenTo), records: Number(seenRecords) };
  if (isKind(kind)) return { kind, token, id, onlyAfter, seen, payload };
  throw new LockConfigurationError(
    `A journal of FencedFileStore has a record of the kind '${kind}': a newer version of nestjs-zookeeper-lock wrote it. ` +
      'Update this process: it must not guess what counts',
  );
}

/**
 * Whether a line without a record is what a writer leaves that was cut off, or several such writers one after the other: the
 * beginning of a record, which the next writer ended. Between whole records the line is empty.
 */
export function isCutOff(line: Buffer): boolean {
  if (line.at(-1) !== CUT_MARK) return false;
  let end = line.length;
  while (line[end - 1] === CUT_MARK) end -= 1;
  const part = line.subarray(0, end);
  const start = headerOf(part);
  if (start === null) return part.length < MAX_HEADER_BYTES && PART_OF_HEADER.test(part.toString('latin1'));
  const payload = part.subarray(start[0].length);
  // A record that lacks only its last byte, the line feed, has its end mark.
  const escaped = payload.at(-1) === END_MARK ? payload.subarray(0, -1) : payload;
  return unescapedLength(escaped) <= Number(start[7]);
}

function headerOf(line: Buffer): RegExpExecArray | null {
  return HEADER.exec(line.toString('latin1', 0, MAX_HEADER_BYTES));
}

function checksum(header: string, payload: Uint8Array): string {
  return crc32(payload, crc32(header)).toString(16).padStart(8, '0');
}

function isKind(kind: string): kind is RecordKind {
  return (KINDS as readonly string[]).includes(kind);
}

/** Makes one line of the journal of any bytes: no content can look like the end of its own record. */
export function escapeBytes(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(LINE_FEED) && !bytes.includes(BACKSLASH)) return bytes;
  // The loops over bytes go by index, as nothing else runs meanwhile: 100 MB take a quarter of a second. With iterators,
  // callbacks or texts they take several times as long.
  const escaped = Buffer.allocUnsafeSlow(2 * bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === LINE_FEED || byte === BACKSLASH) escaped[length++] = BACKSLASH;
    escaped[length++] = byte === LINE_FEED ? LETTER_N : byte;
  }
  return escaped.subarray(0, length);
}

/** Undoes `escapeBytes`, into a copy; undefined for a line that it never makes. */
export function unescapeBytes(escaped: Buffer): Buffer | undefined {
  if (!escaped.includes(BACKSLASH)) return Buffer.from(escaped);
  const bytes = Buffer.allocUnsafe(escaped.length);
  let length = 0;
  for (let at = 0; at < escaped.length; at += 1) {
    const byte = escaped[at]!;
    if (byte !== BACKSLASH) {
      bytes[length++] = byte;
      continue;
    }
    at += 1;
    if (escaped[at] !== BACKSLASH && escaped[at] !== LETTER_N) return undefined;
    bytes[length++] = escaped[at] === LETTER_N ? LINE_FEED : BACKSLASH;
  }
  return bytes.subarray(0, length);
}

/** How long escaped bytes were before. They may be cut off anywhere, also in the middle of an escape. */
function unescapedLength(escaped: Uint8Array): number {
  let length = 0;
  for (let at = 0; at < escaped.length; at += escaped[at] === BACKSLASH ? 2 : 1) length += 1;
  return length;
}
