import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { FrameSplitter } from '../../../../lib/session/wire/frame-splitter.js';
import { MalformedFrameError } from '../../../../lib/session/wire/jute-reader.js';

const MAX_BYTES = 4 * 1024 * 1024;

class Collector {
  readonly frames: Buffer[] = [];
  readonly large: { readonly beginning: Buffer; readonly length: number }[] = [];

  constructor(readonly handshaken = true) {}

  onFrame(bytes: Buffer, start: number, end: number): void {
    this.frames.push(bytes.subarray(start, end));
  }

  onLargeFrame(bytes: Buffer, start: number, end: number, length: number): void {
    this.large.push({ beginning: Buffer.from(bytes.subarray(start, end)), length });
  }
}

function withLength(body: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length);
  return Buffer.concat([length, body]);
}

/** Cuts at these places, wrapped round the length. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length));
}

describe('FrameSplitter', () => {
  it('finds the same frames however the stream is cut, and does not change them later', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 40 }),
        (bodies, cuts) => {
          const collector = new Collector();
          const splitter = new FrameSplitter(collector);
          const stream = Buffer.concat(bodies.map(withLength));
          for (const piece of pieces(stream, cuts)) splitter.push(Buffer.from(piece));
          expect(collector.frames.map((frame) => Uint8Array.from(frame))).toEqual(bodies);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('puts a large frame together byte by byte, between small ones', () => {
    const large = Buffer.alloc(200_000, 'large');
    const stream = Buffer.concat([withLength(Buffer.from('a')), withLength(large), withLength(Buffer.from('b'))]);
    const collector = new Collector();
    const splitter = new FrameSplitter(collector);
    const allocations = jest.spyOn(Buffer, 'allocUnsafeSlow');
    for (let at = 0; at < stream.length; at += 1) splitter.push(stream.subarray(at, at + 1));

    // Doubling: a copy for each byte would be a quadratic amount of work.
    expect(allocations.mock.calls.length).toBeLessThan(20);
    allocations.mockRestore();
    expect(collector.frames.map((frame) => frame.length)).toEqual([1, large.length, 1]);
    expect(collector.frames[1]?.equals(large)).toBe(true);
  });

  it('does not copy a frame that lies whole in a chunk', () => {
    const chunk = Buffer.concat([withLength(Buffer.from('one')), withLength(Buffer.from('two'))]);
    const collector = new Collector();
    new FrameSplitter(collector).push(chunk);

    expect(collector.frames.map((frame) => frame.buffer)).toEqual([chunk.buffer, chunk.buffer]);
  });

  it('reads past a frame that is too large, however the stream is cut, and finds those behind it', () => {
    const size = fc.oneof(fc.nat({ max: 100 }), fc.integer({ min: 90, max: 3_000 }));
    fc.assert(
      fc.property(fc.array(size, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 40 }), (sizes, cuts) => {
        const bodies = sizes.map((length, index) => Buffer.alloc(length, `${index}-`));
        const collector = new Collector();
        const splitter = new FrameSplitter(collector, 100);
        for (const piece of pieces(Buffer.concat(bodies.map(withLength)), cuts)) splitter.push(Buffer.from(piece));
        const large = bodies.filter(({ length }) => length > 100);
        expect(collector.frames).toEqual(bodies.filter(({ length }) => length <= 100));
        expect(collector.large).toEqual(
          large.map((body) => ({ beginning: body.subarray(0, 20), length: body.length })),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('keeps nothing of what it reads past', () => {
    const collector = new Collector();
    const splitter = new FrameSplitter(collector);
    const chunk = Buffer.alloc(64 * 1024);
    const allocations = jest.spyOn(Buffer, 'allocUnsafeSlow');
    splitter.push(Buffer.from('7fffffff', 'hex'));
    for (let passed = 0; passed < 2 ** 31 - 1; passed += chunk.length)
      splitter.push(chunk.subarray(0, 2 ** 31 - 1 - passed));
    const setAside = allocations.mock.calls.reduce((sum, [bytes]) => sum + bytes, 0);
    allocations.mockRestore();
    splitter.push(withLength(Buffer.from('next')));

    expect(setAside).toBeLessThan(100);
    expect([collector.large.map(({ length }) => length), collector.frames.map(String)]).toEqual([
      [2 ** 31 - 1],
      ['next'],
    ]);
  });

  it('takes a frame of just the greatest length whole', () => {
    const collector = new Collector();
    const splitter = new FrameSplitter(collector);
    for (const length of [MAX_BYTES, MAX_BYTES + 1]) splitter.push(withLength(Buffer.alloc(length)));

    expect(collector.frames.map(({ length }) => length)).toEqual([MAX_BYTES]);
    expect(collector.large.map(({ length }) => length)).toEqual([MAX_BYTES + 1]);
  });

  it('hands on nothing behind a frame that is too large when it was stopped there', () => {
    const frames: string[] = [];
    const splitter = new FrameSplitter({
      handshaken: true,
      onFrame: () => frames.push('too late'),
      onLargeFrame: () => splitter.stop(),
    });
    splitter.push(Buffer.concat([withLength(Buffer.alloc(MAX_BYTES + 1)), withLength(Buffer.from('next'))]));

    expect(frames).toEqual([]);
  });

  it.each([
    ['a negative length', 'ffffffff'],
    ['a length over 4 MiB', '00400001'],
    ['HTTP', Buffer.from('HTTP/1.1 400').toString('hex')],
    ['a TLS alert', '15030300020228'],
  ])('refuses %s, whole or byte by byte', (_, hex) => {
    const bytes = Buffer.from(hex, 'hex');
    expect(() => new FrameSplitter(new Collector(false)).push(bytes)).toThrow(MalformedFrameError);

    const splitter = new FrameSplitter(new Collector(false));
    expect(() => {
      for (const byte of bytes) splitter.push(Buffer.from([byte]));
    }).toThrow(MalformedFrameError);
  });

  it('says when the other side seems to speak TLS', () => {
    const splitter = new FrameSplitter(new Collector(false));

    expect(() => splitter.push(Buffer.from('15030300020228', 'hex'))).toThrow(/secureClientPort/);
  });

  it('hands on nothing after it was stopped, not even the rest of the chunk', () => {
    const frames: number[] = [];
    const splitter = new FrameSplitter({
      handshaken: true,
      onFrame: (_, start) => {
        frames.push(start);
        splitter.stop();
      },
      onLargeFrame: () => undefined,
    });
    splitter.push(Buffer.concat([withLength(Buffer.from('one')), withLength(Buffer.from('two'))]));
    splitter.push(withLength(Buffer.from('three')));

    expect(frames).toEqual([4]);
  });

  it('sets little aside for a frame that only claims to be large', () => {
    const splitter = new FrameSplitter(new Collector());
    const before = process.memoryUsage().arrayBuffers;
    splitter.push(Buffer.from('0040000000', 'hex'));

    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  });
});
