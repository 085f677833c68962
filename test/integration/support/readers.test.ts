import { describe, expect, it } from '@jest/globals';
import { FrameSplitter, frameOf } from '../../support/proxy/frames.js';
import { parseRole, parseWatchCount } from '../../support/zookeeper/reports.js';
import { QuorumPacketSplitter, type QuorumPacket } from '../../support/zookeeper/quorum-packets.js';

/** Gives a splitter the bytes in pieces of one size, as a network might. */
function inPieces<T>(bytes: Buffer, size: number, push: (chunk: Buffer) => T[]): T[] {
  const found: T[] = [];
  for (let offset = 0; offset < bytes.length; offset += size)
    found.push(...push(bytes.subarray(offset, offset + size)));
  return found;
}

describe('frames', () => {
  const frames = [frameOf(Buffer.from('one')), frameOf(Buffer.alloc(0)), frameOf(Buffer.from('three'))];

  it.each([1, 3, 5, 1_000])('are found in pieces of %i bytes', (size) => {
    const splitter = new FrameSplitter();
    expect(inPieces(Buffer.concat(frames), size, (chunk) => splitter.push(chunk))).toEqual(frames);
    expect(splitter.isFramed).toBe(true);
  });

  it('end where something else begins, and nothing is lost', () => {
    const splitter = new FrameSplitter();
    expect(splitter.push(Buffer.concat([...frames, Buffer.from('ruok')]))).toEqual(frames);
    expect(splitter.isFramed).toBe(false);
    expect(splitter.takeRest()).toEqual(Buffer.from('ruok'));
  });
});

describe('quorum packets', () => {
  const identity = Buffer.concat([text('digest'), text('someone')]);
  const packets = [
    packet(17, Buffer.from('epoch'), undefined),
    packet(15, undefined, []),
    // A snapshot is sent bare; it may hold what looks like packets, and the beginning of its own end.
    Buffer.concat([
      packet(4, undefined, []),
      text('BenWasHer').subarray(0, 9),
      Buffer.alloc(100, 7),
      text('BenWasHere'),
    ]),
    packet(2, Buffer.from('proposal'), [identity, identity]),
    packet(4, undefined, undefined),
    packet(5, Buffer.alloc(0), []),
  ];

  it.each([1, 7, 64, 10_000])('are found in pieces of %i bytes, behind a snapshot too', (size) => {
    const splitter = new QuorumPacketSplitter();
    const found = inPieces<QuorumPacket>(Buffer.concat(packets), size, (chunk) => splitter.push(chunk));
    expect(Buffer.concat(found.map(({ bytes }) => bytes))).toEqual(Buffer.concat(packets));
    const types = found.map(({ type }) => type).filter((type) => type !== undefined);
    expect(types).toEqual(['LEADERINFO', 'SNAP', 'PROPOSAL', 'COMMIT', 'PING']);
  });

  it('give way to plain bytes when something unreadable comes', () => {
    const splitter = new QuorumPacketSplitter();
    const garbage = Buffer.alloc(40, 0x7f);
    expect(splitter.push(garbage)).toEqual([{ bytes: garbage, type: undefined }]);
    expect(splitter.push(packets[4] ?? garbage)).toEqual([{ bytes: packets[4], type: undefined }]);
  });
});

describe('reports', () => {
  it('say none for a server that does not serve', () => {
    expect(parseRole('This ZooKeeper instance is not currently serving requests\n')).toBe('none');
  });

  it('are not read where they are something else', () => {
    expect(() => parseWatchCount('wchs is not executed because it is not in the whitelist.')).toThrow('whitelist');
  });
});

function packet(type: number, data: Buffer | undefined, identities: Buffer[] | undefined): Buffer {
  const zxid = Buffer.alloc(8, 1);
  const list = identities === undefined ? int(-1) : Buffer.concat([int(identities.length), ...identities]);
  return Buffer.concat([int(type), zxid, data === undefined ? int(-1) : Buffer.concat([int(data.length), data]), list]);
}

function text(value: string): Buffer {
  return Buffer.concat([int(Buffer.byteLength(value)), Buffer.from(value)]);
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
