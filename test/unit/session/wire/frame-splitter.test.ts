import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { FrameSplitter } from '../../../../lib/session/wire/frame-splitter.js';
import { MalformedFrameError } from '../../../../lib/session/wire/malformed-frame-error.js';

class Collector {
  readonly frames: Buffer[] = [];

  onFrame(bytes: Buffer, start: number, end: number): void {
    this.frames.push(bytes.subarray(start, end));
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

  it.each([
    ['a negative length', 'ffffffff'],
    ['a length over 32 MiB', '02000001'],
    ['HTTP', Buffer.from('HTTP/1.1 400').toString('hex')],
    ['a TLS alert', '15030300020228'],
  ])('refuses %s, whole or byte by byte', (_, hex) => {
    const bytes = Buffer.from(hex, 'hex');
    expect(() => new FrameSplitter(new Collector()).push(bytes)).toThrow(MalformedFrameError);

    const splitter = new FrameSplitter(new Collector());
    expect(() => {
      for (const byte of bytes) splitter.push(Buffer.from([byte]));
    }).toThrow(MalformedFrameError);
  });

  it('says when the other side seems to speak TLS', () => {
    const splitter = new FrameSplitter(new Collector());

    expect(() => splitter.push(Buffer.from('15030300020228', 'hex'))).toThrow(/secureClientPort/);
  });

  it('hands on nothing after it was stopped, not even the rest of the chunk', () => {
    const frames: number[] = [];
    const splitter = new FrameSplitter({
      onFrame: (_, start) => {
        frames.push(start);
        splitter.stop();
      },
    });
    splitter.push(Buffer.concat([withLength(Buffer.from('one')), withLength(Buffer.from('two'))]));
    splitter.push(withLength(Buffer.from('three')));

    expect(frames).toEqual([4]);
  });

  it('sets little aside for a frame that only claims to be large', () => {
    const splitter = new FrameSplitter(new Collector());
    const before = process.memoryUsage().arrayBuffers;
    splitter.push(Buffer.from('0200000000', 'hex'));

    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  });
});
