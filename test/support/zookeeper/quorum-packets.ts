/** The packets that followers and leader exchange on the quorum port, by ZooKeeper's own names and numbers. */
const TYPES = {
  REQUEST: 1,
  PROPOSAL: 2,
  ACK: 3,
  COMMIT: 4,
  PING: 5,
  REVALIDATE: 6,
  SYNC: 7,
  INFORM: 8,
  COMMITANDACTIVATE: 9,
  NEWLEADER: 10,
  FOLLOWERINFO: 11,
  UPTODATE: 12,
  DIFF: 13,
  TRUNC: 14,
  SNAP: 15,
  OBSERVERINFO: 16,
  LEADERINFO: 17,
  ACKEPOCH: 18,
  INFORMANDACTIVATE: 19,
} as const;

export type QuorumPacketType = keyof typeof TYPES;

const NAMES = new Map<number, QuorumPacketType>(
  Object.entries(TYPES).map(([name, code]) => [code, name as QuorumPacketType]),
);

export interface QuorumPacket {
  bytes: Buffer;
  /** `undefined`: the inside of a snapshot, or something unreadable. */
  type: QuorumPacketType | undefined;
}

const HEADER_BYTES = 4 + 8;
/** A snapshot is sent as it is, without a length; this ends it: a text with its length in front. */
const END_OF_SNAPSHOT = Buffer.concat([Buffer.from([0, 0, 0, 10]), Buffer.from('BenWasHere')]);

/** Cuts the stream of one direction into packets. They carry no length: type, zxid, data, and a list of identities. */
export class QuorumPacketSplitter {
  private pending: Buffer = Buffer.alloc(0);
  private state: 'packets' | 'snapshot' | 'unreadable' = 'packets';

  push(chunk: Buffer): QuorumPacket[] {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    const packets: QuorumPacket[] = [];
    for (;;) {
      const packet = this.next();
      if (packet === undefined) return packets;
      packets.push(packet);
    }
  }

  private next(): QuorumPacket | undefined {
    switch (this.state) {
      case 'packets':
        return this.nextPacket();
      case 'snapshot':
        return this.nextOfSnapshot();
      case 'unreadable':
        return this.take(this.pending.length, undefined);
    }
  }

  private nextPacket(): QuorumPacket | undefined {
    if (this.pending.length < 4) return undefined;
    const type = NAMES.get(this.pending.readInt32BE(0));
    const end = endOfPacket(this.pending);
    if (end === 'malformed' || type === undefined) {
      this.state = 'unreadable';
      return this.take(this.pending.length, undefined);
    }
    if (end === undefined) return undefined;
    if (type === 'SNAP') this.state = 'snapshot';
    return this.take(end, type);
  }

  private nextOfSnapshot(): QuorumPacket | undefined {
    const found = this.pending.indexOf(END_OF_SNAPSHOT);
    if (found >= 0) {
      this.state = 'packets';
      return this.take(found + END_OF_SNAPSHOT.length, undefined);
    }
    // The end may lie across two chunks.
    return this.take(Math.max(0, this.pending.length - END_OF_SNAPSHOT.length + 1), undefined);
  }

  private take(length: number, type: QuorumPacketType | undefined): QuorumPacket | undefined {
    if (length === 0) return undefined;
    const bytes = this.pending.subarray(0, length);
    this.pending = this.pending.subarray(length);
    return { bytes, type };
  }
}

/** Where the first packet ends; `undefined` while it is incomplete. */
function endOfPacket(bytes: Buffer): number | 'malformed' | undefined {
  const afterData = endOfField(bytes, HEADER_BYTES);
  if (typeof afterData !== 'number') return afterData;
  if (bytes.length < afterData + 4) return undefined;
  let end: number | 'malformed' | undefined = afterData + 4;
  // Each identity is two texts: scheme and id. -1 stands for no list.
  for (let fields = 2 * bytes.readInt32BE(afterData); fields > 0 && typeof end === 'number'; fields -= 1) {
    end = endOfField(bytes, end);
  }
  return end;
}

function endOfField(bytes: Buffer, offset: number): number | 'malformed' | undefined {
  if (bytes.length < offset + 4) return undefined;
  const length = bytes.readInt32BE(offset);
  if (length < -1) return 'malformed';
  const end = offset + 4 + Math.max(0, length);
  return end <= bytes.length ? end : undefined;
}
