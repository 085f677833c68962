import type { Direction } from '../proxy/conditions.js';
import { startLink, type Link } from '../proxy/link.js';
import { introduceAs } from './election-greeting.js';
import { noPackets, PacketHold, packetInspector, type PacketCounts } from './packet-holds.js';
import type { QuorumPacketType } from './quorum-packets.js';
import type { Peer } from './server-config.js';

/** As the one server sees it: what it gets, what it sends, or both. */
export type Side = 'in' | 'out' | 'both';

/** The way from one server to a port of another, used by the first alone. */
export interface PeerLink {
  from: number;
  to: number;
  kind: 'quorum' | 'election';
  link: Link;
  /** What passed, on a quorum link. */
  packets: PacketCounts;
}

/**
 * A server that starts dials peers whose ports are not open yet. A proxy accepts all the same, so it dials on for them as
 * long as the servers would: a connection that ends at once costs a round of the election.
 */
const CONNECT_RETRY_MS = 1_000;

/** Two proxies for every ordered pair of servers: all that they say to one another passes here. */
export class PeerNetwork {
  readonly links: PeerLink[] = [];
  private readonly holds = new Set<PacketHold>();
  private readonly isolated = new Map<number, Side>();

  private constructor(private readonly servers: readonly Peer[]) {}

  static async start(servers: readonly Peer[]): Promise<PeerNetwork> {
    const network = new PeerNetwork(servers);
    try {
      for (const from of servers) {
        for (const to of servers) if (from !== to) await network.connect(from, to);
      }
      return network;
    } catch (error) {
      await network.stop();
      throw error;
    }
  }

  get ports(): readonly number[] {
    return this.servers.flatMap(({ quorumPort, electionPort }) => [quorumPort, electionPort]);
  }

  /** The servers as `serverId` is to know them: itself as it is, the others by way of the proxies. */
  peersOf(serverId: number): Peer[] {
    return this.servers.map((peer) => {
      if (peer.serverId === serverId) return peer;
      return {
        serverId: peer.serverId,
        quorumPort: this.portOf(serverId, peer.serverId, 'quorum'),
        electionPort: this.portOf(serverId, peer.serverId, 'election'),
      };
    });
  }

  isolate(serverId: number, side: Side): void {
    this.isolated.set(serverId, side);
    this.apply();
  }

  heal(serverId: number): void {
    this.isolated.delete(serverId);
    this.apply();
  }

  hold(serverId: number, types: readonly QuorumPacketType[], side: Side): PacketHold {
    const hold = new PacketHold(new Set(types), (link, direction) => concerns(serverId, side, link, direction));
    this.holds.add(hold);
    return hold;
  }

  async stop(): Promise<void> {
    await Promise.all(this.links.map(({ link }) => link.stop()));
  }

  private async connect(from: Peer, to: Peer): Promise<void> {
    const pair = { from: from.serverId, to: to.serverId };
    const packets = noPackets();
    const quorum = await startLink(
      { target: to.quorumPort, connectRetryMs: CONNECT_RETRY_MS },
      packetInspector(pair, this.holds, packets),
    );
    this.links.push({ ...pair, kind: 'quorum', link: quorum, packets });
    const election = await startLink(
      { target: to.electionPort, connectRetryMs: CONNECT_RETRY_MS },
      introduceAs(() => `127.0.0.1:${this.portOf(pair.to, pair.from, 'election')}`),
    );
    this.links.push({ ...pair, kind: 'election', link: election, packets: noPackets() });
  }

  private portOf(from: number, to: number, kind: PeerLink['kind']): number {
    const found = this.links.find((link) => link.from === from && link.to === to && link.kind === kind);
    if (found === undefined) throw new Error(`There is no ${kind} link from server ${from} to server ${to}.`);
    return found.link.port;
  }

  private apply(): void {
    for (const peerLink of this.links) {
      for (const direction of ['toServer', 'toClient'] as const) {
        const stalled = [...this.isolated].some(([serverId, side]) => concerns(serverId, side, peerLink, direction));
        peerLink.link.setFlow(direction, stalled ? 'stall' : 'pass');
      }
    }
  }
}

/** Whether what travels in this direction of this link is what the server gets (in), sends (out) or either. */
function concerns(serverId: number, side: Side, link: { from: number; to: number }, direction: Direction): boolean {
  const receiver = direction === 'toServer' ? link.to : link.from;
  const sender = direction === 'toServer' ? link.from : link.to;
  return (side !== 'out' && receiver === serverId) || (side !== 'in' && sender === serverId);
}
