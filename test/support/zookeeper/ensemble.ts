import { join } from 'node:path';
import { zookeeperClasspath } from '../find-zookeeper/jars.js';
import { eventually } from '../process/eventually.js';
import { freePort } from '../proxy/ports.js';
import { DEFAULT_START_WITHIN_MS, type ServerOptions } from './options.js';
import type { PacketHold } from './packet-holds.js';
import { PeerNetwork, type PeerLink, type Side } from './peer-network.js';
import type { QuorumPacketType } from './quorum-packets.js';
import type { Role } from './reports.js';
import type { Peer } from './server-config.js';
import { ZooKeeperServer } from './server.js';
import { clearWorkspace, makeWorkspace, withOtherPortsWhenTaken } from './workspace.js';

export interface EnsembleOptions extends ServerOptions {
  /** How many servers. @default 3 */
  servers?: number;
  /** Whether a proxy stands on every way between two servers. Without them nothing can be cut or held. @default true */
  proxies?: boolean;
}

export interface QuorumOptions {
  /** The servers that are to be a leader and its followers. @default all that run and are not frozen */
  among?: readonly ZooKeeperServer[];
  withinMs?: number;
}

/** Servers that elect a leader, with a proxy on every way between them unless it was started without. */
export class Ensemble {
  constructor(
    readonly servers: readonly ZooKeeperServer[],
    private readonly proxies: PeerNetwork | undefined,
    private readonly workspace: string,
  ) {}

  /** `127.0.0.1:port,127.0.0.1:port,...` of all servers. */
  get connect(): string {
    return this.servers.map((server) => server.connect).join(',');
  }

  /** Every way between two servers, with what has passed there. */
  get links(): readonly PeerLink[] {
    return this.network.links;
  }

  /** The ports on which the servers themselves listen for one another; only the proxies should be connected to them. */
  get peerPorts(): readonly number[] {
    return this.network.ports;
  }

  /** Waits for a quorum and returns its leader. After an isolation say among whom: an old leader takes a while to resign. */
  async leader(options: QuorumOptions = {}): Promise<ZooKeeperServer> {
    const roles = await this.waitForQuorum(options);
    const [leader] = [...roles].find(([, role]) => role === 'leader') ?? [];
    if (leader === undefined) throw new Error('A quorum without a leader was reported.');
    return leader;
  }

  /** Waits for a quorum and returns the leader's followers. */
  async followers(options: QuorumOptions = {}): Promise<ZooKeeperServer[]> {
    const roles = await this.waitForQuorum(options);
    return [...roles].filter(([, role]) => role === 'follower').map(([server]) => server);
  }

  others(server: ZooKeeperServer): ZooKeeperServer[] {
    return this.servers.filter((candidate) => candidate !== server);
  }

  /** Resolves, with the roles, when one of the servers leads and all others follow. */
  async waitForQuorum(options: QuorumOptions = {}): Promise<Map<ZooKeeperServer, Role>> {
    const among = options.among ?? this.servers.filter((server) => server.isRunning && !server.isFrozen);
    let roles = new Map<ZooKeeperServer, Role>();
    const asked = async (): Promise<Map<ZooKeeperServer, Role> | undefined> => {
      roles = new Map(await Promise.all(among.map(async (server) => [server, await server.role()] as const)));
      const all = [...roles.values()];
      const leaders = all.filter((role) => role === 'leader').length;
      if (leaders !== 1 || all.includes('none')) return undefined;
      const serving = await Promise.all(among.map((server) => server.isServing()));
      return serving.every(Boolean) ? roles : undefined;
    };
    return eventually(`a quorum of servers ${among.map(({ id }) => id).join(', ')}`, asked, {
      withinMs: options.withinMs ?? DEFAULT_START_WITHIN_MS,
      explain: () => [...roles].map(([server, role]) => `Role ${role}. ${server.logTail(15)}`).join('\n'),
      giveUp: () => {
        const ended = among.find((server) => !server.isRunning);
        return ended === undefined ? undefined : new Error(`Server ${ended.id} has ended.\n${ended.logTail()}`);
      },
    });
  }

  /**
   * Cuts a server off from its peers; its clients go on talking to it. Nothing arrives, not even the end of a connection.
   * `in`: it hears nothing; `out`: it is not heard.
   */
  isolate(server: ZooKeeperServer, side: Side = 'both'): void {
    this.network.isolate(server.id, side);
  }

  /** Ends an isolation. What was sent meanwhile arrives now, on connections that both ends still keep. */
  heal(server: ZooKeeperServer): void {
    this.network.heal(server.id);
  }

  /**
   * Keeps back packets of some types between this server and its leader (or its followers), and with them all behind them
   * except pings, in order. A follower to which commits are held lags behind; one whose acks are held does not count for
   * the quorum; held pings keep the leader from hearing of the follower's sessions.
   */
  holdQuorumPackets(
    server: ZooKeeperServer,
    types: QuorumPacketType | readonly QuorumPacketType[],
    side: Side = 'both',
  ): PacketHold {
    return this.network.hold(server.id, [types].flat(), side);
  }

  /** Stops all servers, deletes their data, and starts them anew with nothing. */
  async wipe(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    await Promise.all(this.servers.map((server) => server.deleteData()));
    await Promise.all(this.servers.map((server) => server.launch()));
    await this.waitForQuorum();
  }

  /** Kills all servers and removes all they left. Safe to call twice. */
  async stop(): Promise<void> {
    await clearWorkspace(this.workspace, this.servers);
    await this.proxies?.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  private get network(): PeerNetwork {
    if (this.proxies === undefined)
      throw new Error(
        'This ensemble was started without proxies, so nothing between its servers can be seen or changed.',
      );
    return this.proxies;
  }
}

/** Starts an ensemble from the machine's jars; resolves when one server leads and all others follow. */
export async function startEnsemble(options: EnsembleOptions = {}): Promise<Ensemble> {
  const java = await zookeeperClasspath();
  return withOtherPortsWhenTaken(async () => {
    const peers: Peer[] = [];
    for (let serverId = 1; serverId <= (options.servers ?? 3); serverId += 1) {
      peers.push({ serverId, quorumPort: await freePort(), electionPort: await freePort() });
    }
    const network = options.proxies === false ? undefined : await PeerNetwork.start(peers);
    const workspace = await makeWorkspace();
    const servers: ZooKeeperServer[] = [];
    for (const { serverId } of peers) {
      const ports = { client: await freePort(), secure: options.tls === undefined ? undefined : await freePort() };
      const folder = join(workspace, `server-${serverId}`);
      servers.push(
        new ZooKeeperServer({ serverId, folder, ports, peers: network?.peersOf(serverId) ?? peers, options, java }),
      );
    }
    const ensemble = new Ensemble(servers, network, workspace);
    try {
      await Promise.all(servers.map((server) => server.launch()));
      await ensemble.waitForQuorum({ withinMs: options.startWithinMs ?? DEFAULT_START_WITHIN_MS });
      return ensemble;
    } catch (error) {
      await ensemble.stop();
      throw error;
    }
  });
}
