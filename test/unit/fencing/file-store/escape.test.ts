import { describe, expect, it } from '@jest/globals';
import { escapeBytes, unescapeBytes } from '../../../../lib/fencing/file-store/record.js';

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

describe('escapeBytes', () => {
  it.each([
    ['nothing', ''],
    ['what needs none', 'abc'],
    ['line feeds alone', '\n\n'],
    ['backslashes alone', '\\\\'],
    ['what looks escaped', '\\n\n\\\\n'],
    ['every byte', everyByte],
  ])('makes one line of %s, and unescapeBytes the same again', (_what, content) => {
    const bytes = Buffer.from(content);
    const escaped = Buffer.from(escapeBytes(bytes));
    expect(escaped).not.toContain(0x0a);
    expect(unescapeBytes(escaped)).toEqual(bytes);
  });

  it('adds one byte for each that needs it', () => {
    expect(Buffer.from(escapeBytes(Buffer.from('a\nb\\'))).toString()).toBe('a\\nb\\\\');
    expect(escapeBytes(everyByte)).toHaveLength(258);
  });
});

describe('unescapeBytes', () => {
  it.each(['\\', 'a\\', '\\x'])('takes %j for no escaped text', (text) => {
    expect(unescapeBytes(Buffer.from(text))).toBeUndefined();
  });
});
