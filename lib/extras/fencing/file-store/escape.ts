const LINE_FEED = 0x0a;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;

/** One line of the journal, whatever the bytes are: no content can look like the end of its own record. */
export function escapeBytes(bytes: Uint8Array): Uint8Array {
  const escapes = bytes.reduce((count, byte) => count + (needsEscape(byte) ? 1 : 0), 0);
  if (escapes === 0) return bytes;
  const escaped = new Uint8Array(bytes.length + escapes);
  let at = 0;
  for (const byte of bytes) {
    if (needsEscape(byte)) escaped[at++] = BACKSLASH;
    escaped[at++] = byte === LINE_FEED ? LETTER_N : byte;
  }
  return escaped;
}

/** A copy, or `undefined` for what `escapeBytes` never makes. */
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

function needsEscape(byte: number): boolean {
  return byte === LINE_FEED || byte === BACKSLASH;
}
