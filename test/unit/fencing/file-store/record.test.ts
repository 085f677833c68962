import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  encodeRecord,
  type JournalRecord,
  parseLine,
  type RecordKind,
} from '../../../../lib/fencing/file-store/record.js';

const HIGHEST = 2n ** 63n - 1n;

function recordsOf(bytes: Buffer): JournalRecord[] {
  const records: JournalRecord[] = [];
  for (let from = 0, end = bytes.indexOf('\n'); end >= 0; from = end + 1, end = bytes.indexOf('\n', from)) {
    const record = parseLine(bytes.subarray(from, end));
    if (record !== undefined) records.push(record);
  }
  return records;
}

/** Rich in what has a meaning in a journal. */
const anyPayload = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  fc
    .array(fc.constantFrom('\n', '\\', '!', ';', 'n', ' ', '\0', '7 claim x * 0 00000000 ;'), { maxLength: 20 })
    .map((parts) => new Uint8Array(Buffer.from(parts.join('')))),
);

const anyRecord: fc.Arbitrary<JournalRecord> = fc.record({
  kind: fc.constantFrom<RecordKind>('base', 'write', 'append', 'claim', 'remove', 'seal'),
  token: fc.bigInt({ min: 0n, max: HIGHEST }),
  id: fc.uuid(),
  onlyAfter: fc.option(fc.uuid(), { nil: undefined }),
  seen: fc.record({ to: fc.maxSafeNat(), records: fc.nat() }),
  payload: anyPayload,
});

function plain(record: JournalRecord): unknown {
  return { ...record, payload: Buffer.from(record.payload).toString('hex') };
}

describe('the records of a journal', () => {
  it('are read as they were written, whatever the content is', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 5 }), (records) => {
        const read = recordsOf(Buffer.concat(records.map(encodeRecord)));
        expect(read.map(plain)).toEqual(records.map(plain));
      }),
      { numRuns: 500 },
    );
  });

  it('are one line each, between the lines that begin them', () => {
    const text = encodeRecord({ kind: 'append', token: HIGHEST, id: 'x', payload: Buffer.from('a\nb\\') }).toString();
    expect(text).toMatch(/^!\n9223372036854775807 append x \* 0 0 4 [0-9a-f]{8} a\\nb\\\\;\n$/);
  });

  it.each(['', 'hi!', 'ends with a backslash\\', 'ends with a line\n', 'a;', '!', ';', '!\n;\n'])(
    'count whole or not at all: %j cut off at any byte is no record, and harms none behind it',
    (text) => {
      const torn = encodeRecord({ kind: 'append', token: 5n, id: 'torn', payload: Buffer.from(text) });
      const next = encodeRecord({ kind: 'append', token: 5n, id: 'next', payload: Buffer.from(text) });
      const again = encodeRecord({ kind: 'append', token: 5n, id: 'again', payload: Buffer.from(text) });
      for (let length = 0; length < torn.length; length += 1) {
        const bytes = Buffer.concat([next, torn.subarray(0, length), again]);
        expect(recordsOf(bytes).map(({ id }) => id)).toEqual(['next', 'again']);
        expect(recordsOf(Buffer.concat([torn.subarray(0, length), next])).map(({ id }) => id)).toEqual(['next']);
      }
    },
  );

  it('are found between garbage of any kind', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.uint8Array({ maxLength: 200 }), anyRecord), { maxLength: 6 }), (parts) => {
        const bytes = Buffer.concat(parts.flatMap(([garbage, record]) => [garbage, encodeRecord(record)]));
        expect(recordsOf(bytes).map(plain)).toEqual(parts.map(([, record]) => plain(record)));
      }),
      { numRuns: 300 },
    );
  });

  it('are no records with any byte changed', () => {
    const seen = { to: 4_711, records: 23 };
    const record: JournalRecord = { kind: 'write', token: 71n, id: 'one', seen, payload: Buffer.from('content') };
    const line = encodeRecord(record).subarray(2, -1);
    for (let at = 0; at < line.length; at += 1) {
      const changed = Buffer.from(line);
      changed[at]! ^= 1;
      expect(parseLine(changed)).toBeUndefined();
    }
    expect(parseLine(line)).toBeDefined();
  });

  it('are not passed over in silence if they are of a kind that a later version has', () => {
    const kind = 'truncate' as RecordKind;
    const line = encodeRecord({ kind, token: 1n, id: 'x', payload: Buffer.alloc(0) }).subarray(2, -1);
    expect(() => parseLine(line)).toThrow("the kind 'truncate'");
  });
});
