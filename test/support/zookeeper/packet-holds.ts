import { Gate } from '../proxy/gate.js';
import type { Direction } from '../proxy/conditions.js';
import type { InspectorFactory } from '../proxy/inspector.js';
import type { Unit } from '../proxy/lane.js';
import { QuorumPacketSplitter, type QuorumPacket, type QuorumPacketType } from './quorum-packets.js';

/** Packets of some types that are kept back on some links, until the release. */
export class PacketHold {
  readonly gate = new Gate();
  /** The first such packet is held. */
  readonly seen: Promise<QuorumPacketType>;
  /** How many are held, or were until the release. */
  heldCount = 0;
  private resolveSeen: (type: QuorumPacketType) => void = () => undefined;

  constructor(
    private readonly types: ReadonlySet<QuorumPacketType>,
    private readonly applies: (link: PacketLink, direction: Direction) => boolean,
  ) {
    this.seen = new Promise((resolve) => {
      this.resolveSeen = resolve;
    });
  }

  /** Lets them go on, in order, and holds no more. */
  release(): void {
    this.gate.open();
  }

  takes(link: PacketLink, direction: Direction, type: QuorumPacketType): boolean {
    if (this.gate.isOpen || !this.types.has(type) || !this.applies(link, direction)) return false;
    this.heldCount += 1;
    this.resolveSeen(type);
    return true;
  }
}

/** The quorum connections that server `from` opens to server `to` while `to` leads. */
export interface PacketLink {
  from: number;
  to: number;
}

/** How many packets of each type passed, each way; `unreadable` should stay 0. */
export interface PacketCounts {
  toServer: Map<QuorumPacketType, number>;
  toClient: Map<QuorumPacketType, number>;
}

export function noPackets(): PacketCounts {
  return { toServer: new Map(), toClient: new Map() };
}

/** Reads a quorum link packet by packet and keeps back what is to be held. */
export function packetInspector(
  link: PacketLink,
  holds: ReadonlySet<PacketHold>,
  counts: PacketCounts,
): InspectorFactory {
  const unitOf = (direction: Direction, { bytes, type }: QuorumPacket): Unit => {
    if (type === undefined) return { bytes };
    counts[direction].set(type, (counts[direction].get(type) ?? 0) + 1);
    const hold = [...holds].find((candidate) => candidate.takes(link, direction, type));
    // Pings are a stream of their own, so that neither a held commit nor held pings end the connection.
    const stream = type === 'PING' ? 'pings' : 'main';
    return hold === undefined ? { bytes, stream } : { bytes, stream, gate: hold.gate };
  };
  return () => {
    const splitters = { toServer: new QuorumPacketSplitter(), toClient: new QuorumPacketSplitter() };
    return {
      toServer: (chunk) => splitters.toServer.push(chunk).map((packet) => unitOf('toServer', packet)),
      toClient: (chunk) => splitters.toClient.push(chunk).map((packet) => unitOf('toClient', packet)),
    };
  };
}
