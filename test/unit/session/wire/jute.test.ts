import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JuteReader, MalformedFrameError } from '../../../../lib/session/wire/jute-reader.js';
import { JuteWriter } from '../../../../lib/session/wire/jute-writer.js';

type Element =
  | { type: 'int'; value: number }
  | { type: 'long'; value: bigint }
  | { type: 'boolean'; value: boolean }
  | { type: 'string'; value: string }
  | { type: 'buffer'; value: Uint8Array };

const text = fc.string({ unit: 'grapheme', maxLength: 300 });
const element: fc.Arbitrary<Element> = fc.oneof(
  fc.record({ type: fc.constant('int' as const), value: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }) }),
  fc.record({ type: fc.constant('long' as const), value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }),
  fc.record({ type: fc.constant('boolean' as const), value: fc.boolean() }),
  fc.record({ type: fc.constant('string' as const), value: text }),
  fc.record({ type: fc.constant('buffer' as const), value: fc.uint8Array({ maxLength: 20_000 }) }),
);

function write(writer: JuteWriter, { type, value }: Element): void {
  switch (type) {
    case 'int':
      return writer.int(value);
    case 'long':
      return writer.long(value);
    case 'boolean':
      return writer.boolean(value);
    case 'string':
      return writer.string(value);
    case 'buffer':
      return writer.buffer(value);
  }
}

function reader(bytes: Buffer): JuteReader {
  const made = new JuteReader();
  made.reset(bytes, 0, bytes.length);
  return made;
}

describe('Jute', () => {
  it('reads back whatever was written, in frames one behind the other', () => {
    fc.assert(
      fc.property(fc.array(fc.array(element, { maxLength: 8 }), { maxLength: 5 }), (frames) => {
        const writer = new JuteWriter();
        for (const elements of frames) {
          writer.beginFrame();
          for (const each of elements) write(writer, each);
          writer.endFrame();
        }
        const written = reader(writer.written());
        for (const elements of frames) {
          const length = written.int();
          const before = written.remaining;
          for (const { type, value } of elements) {
            const read = written[type]();
            expect(read instanceof Uint8Array ? Uint8Array.from(read) : read).toEqual(value);
          }
          expect(before - written.remaining).toBe(length);
        }
        expect(written.remaining).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it('writes a prefix and a text as one text', () => {
    fc.assert(
      fc.property(text, text, (prefix, rest) => {
        const writer = new JuteWriter();
        writer.string(rest, prefix);
        expect(reader(writer.written()).string()).toBe(prefix + rest);
      }),
    );
  });

  it('reads small longs as exact numbers, negative ones, too', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const bytes = Buffer.alloc(8);
        bytes.writeBigInt64BE(BigInt(value));
        expect(reader(bytes).longAsNumber()).toBe(value);
      }),
    );
  });

  it('forgets a frame that was dropped, and keeps those before it', () => {
    const writer = new JuteWriter();
    writer.beginFrame();
    writer.int(1);
    writer.endFrame();
    writer.beginFrame();
    writer.buffer(new Uint8Array(100_000));
    writer.dropFrame();
    writer.beginFrame();
    writer.int(2);
    writer.endFrame();

    expect(writer.written().toString('hex')).toBe('00000004000000010000000400000002');
  });

  it('takes a null text, buffer or list for an empty one', () => {
    const bytes = Buffer.from('ffffffff'.repeat(3), 'hex');
    const nulls = reader(bytes);

    expect([nulls.string(), nulls.buffer().length, nulls.strings()]).toEqual(['', 0, []]);
  });

  it('gives views of a buffer, not copies', () => {
    const bytes = Buffer.from('00000002aabb', 'hex');

    expect(reader(bytes).buffer().buffer).toBe(bytes.buffer);
  });

  it.each([
    ['an int of three bytes', '000000', 'int'],
    ['a long of seven bytes', '00'.repeat(7), 'long'],
    ['a boolean of none', '', 'boolean'],
    ['a text longer than what is left', '0000000561626364', 'string'],
    ['a length below the null', 'fffffffe', 'buffer'],
    ['the longest length there is', '7fffffff00', 'buffer'],
    ['a list that cannot fit', '0000000200000000', 'strings'],
    ['a list of two thousand million', '7fffffff00000000', 'strings'],
  ] as const)('refuses %s', (_, hex, method) => {
    expect(() => reader(Buffer.from(hex, 'hex'))[method]()).toThrow(MalformedFrameError);
  });

  it('refuses a list by its count, before it reads on', () => {
    expect(() => reader(Buffer.from('7fffffff0000000000000000', 'hex')).strings()).toThrow('a list of 2147483647');
  });

  it('reads the same after the memory has changed, and after it was cleared, be the memory small or large', () => {
    const part = new JuteReader();
    for (const size of [16, 200_000, 32, 64]) {
      const bytes = Buffer.alloc(size + 8).subarray(8);
      bytes.writeInt32BE(size, 4);
      part.reset(bytes, 4, 8);
      expect(part.int()).toBe(size);
      part.clear();
      expect(() => part.int()).toThrow(MalformedFrameError);
    }
  });

  it('keeps no memory that was made for one large frame', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const part = new JuteReader();
    const readLarge = (): WeakRef<ArrayBufferLike> => {
      const large = Buffer.allocUnsafeSlow(200_000);
      part.reset(large, 0, 8);
      part.clear();
      return new WeakRef(large.buffer);
    };
    const memory = readLarge();
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(memory.deref()).toBeUndefined();
    expect(part.remaining).toBe(0);
  });

  it('reads nothing beyond its part of the bytes', () => {
    const part = new JuteReader();
    part.reset(Buffer.alloc(16), 4, 8);
    part.int();

    expect(() => part.boolean()).toThrow(MalformedFrameError);
  });
});
