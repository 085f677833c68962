import { systemClock } from '../../../lib/lock/clock.js';
import { SessionClient } from '../../../lib/session/core/session-client.js';
import { NativeDialer } from '../../../lib/session/native/native-dialer.js';
import { SocketDialer } from '../../../lib/session/wire/socket-dialer.js';
import { nativePackage } from '../../support/native/package-is-there.js';
import { Stalls } from '../../support/process/stalls.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import { startEnsemble, type Ensemble } from '../../support/zookeeper/ensemble.js';
import type { ServerOptions } from '../../support/zookeeper/options.js';
import type { ZooKeeperServer } from '../../support/zookeeper/server.js';
import { startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';
import { ContractClient } from './contract-client.js';
import type { ClientOptions, HarmableWorld } from './contract-world.js';
import { DEFAULTS } from './defaults.js';
import { WallClock } from './wall-clock.js';
import { ProxiedLink } from './proxied-link.js';

const TICK_MS = 500;
const SLACK_MS = 500;

interface OpenClient {
  readonly client: ContractClient;
  readonly link: ProxiedLink;
}

/** The contract's world on servers of its own, with a proxy in front of each server for every client. */
export class RealWorld extends WallClock implements HarmableWorld {
  readonly tickMs = TICK_MS;
  readonly timeoutMs = 10_000;
  readonly shortTimeoutMs = 3_000;
  readonly isExact = false;
  readonly #stalls = Stalls.watch();
  #open: OpenClient[] = [];
  #stopped: ZooKeeperServer[] = [];
  #isolated: ZooKeeperServer[] = [];
  #tests = 0;

  private constructor(
    private readonly servers: readonly ZooKeeperServer[],
    private readonly ensemble: Ensemble | undefined,
    private readonly stopServers: () => Promise<void>,
    private readonly kind: 'wire' | 'native',
  ) {
    super();
  }

  static async start(serverCount: 1 | 3, kind: 'wire' | 'native' = 'wire'): Promise<RealWorld> {
    if (kind === 'native') nativePackage();
    const options: ServerOptions = { tickTimeMs: TICK_MS };
    if (serverCount === 1) {
      const server = await startZooKeeper(options);
      return new RealWorld([server], undefined, () => server.stop(), kind);
    }
    const ensemble = await startEnsemble({ ...options, servers: serverCount });
    return new RealWorld(ensemble.servers, ensemble, () => ensemble.stop(), kind);
  }

  async stop(): Promise<void> {
    this.#stalls[Symbol.dispose]();
    await this.stopServers();
  }

  get stalledMs(): number {
    return this.#stalls.totalMs;
  }

  stalledLatelyMs(withinMs: number): number {
    return this.#stalls.latelyMs(withinMs);
  }

  get slackMs(): number {
    return SLACK_MS + this.stalledMs;
  }

  get serverCount(): number {
    return this.servers.length;
  }

  async open({ only, ...options }: ClientOptions = {}): Promise<ContractClient> {
    const proxies = await Promise.all(
      this.servers
        .filter(({ id }) => only === undefined || only.includes(id))
        .map((server) => startProxy({ target: server.port })),
    );
    const settings = {
      ...DEFAULTS,
      chroot: `/test-${this.#tests}`,
      sessionTimeoutMs: this.timeoutMs,
      serverTickMs: this.tickMs,
      clock: systemClock,
      random: Math.random,
      ...options,
      servers: proxies.map(({ port }) => ({ host: '127.0.0.1', port })),
    };
    const link = new ProxiedLink(proxies, settings.chroot);
    const sockets = new SocketDialer({ acl: settings.acl });
    const session =
      this.kind === 'wire'
        ? new SessionClient(settings, sockets)
        : new SessionClient({ ...settings, isPlain: true }, new NativeDialer(sockets));
    const client = new ContractClient(this, session, link);
    this.#open.push({ client, link });
    return client;
  }

  async endTest(): Promise<void> {
    this.#tests += 1;
    try {
      await this.restoreQuorum();
      if (this.#isolated.length > 0) await this.heal();
    } finally {
      const open = this.#open;
      this.#open = [];
      for (const { client, link } of open) {
        await link.pass();
        await client.session.close();
        await link.stop();
      }
      this.#stalls.forget();
    }
  }

  async roles(): Promise<{ leader: number; followers: readonly number[] }> {
    if (this.ensemble === undefined) return { leader: 1, followers: [] };
    const roles = [...(await this.ensemble.waitForQuorum())];
    const ids = (wanted: string): number[] => roles.filter(([, role]) => role === wanted).map(([{ id }]) => id);
    return { leader: ids('leader')[0] ?? 0, followers: ids('follower') };
  }

  async watchCount(): Promise<number> {
    // Not `wchs`, which leaves the watches of lists out.
    const figures = await Promise.all(this.servers.map((server) => server.monitor()));
    return figures.reduce((sum, figure) => sum + Number(figure.get('zk_watch_count')), 0);
  }

  /** The client cannot be heard until the servers have forgotten it, and then can come back. */
  async expire(client: ContractClient): Promise<void> {
    const link = this.#open.find((open) => open.client === client)?.link;
    if (link === undefined) throw new Error('This client is not of this test.');
    const { id } = client.identity;
    await link.refuse();
    await this.until('the session has expired', async () => !(await this.#sessions()).includes(id));
    await link.pass();
  }

  isolate(server: number): void {
    const isolated = this.#server(server);
    this.#isolated.push(isolated);
    this.ensemble?.isolate(isolated);
  }

  async heal(): Promise<void> {
    for (const server of this.#isolated.splice(0)) this.ensemble?.heal(server);
    await this.ensemble?.waitForQuorum();
  }

  async dropQuorum(): Promise<void> {
    const { leader, followers } = await this.roles();
    const needed = Math.floor(this.serverCount / 2) + 1;
    this.#stopped = [...followers, leader].slice(0, this.serverCount - needed + 1).map((id) => this.#server(id));
    await Promise.all(this.#stopped.map((server) => server.kill()));
  }

  async restoreQuorum(): Promise<void> {
    const stopped = this.#stopped.splice(0);
    await Promise.all(stopped.map((server) => server.start()));
    if (stopped.length > 0) await this.ensemble?.waitForQuorum();
  }

  async wipe(): Promise<void> {
    if (this.ensemble === undefined) await Promise.all(this.servers.map((server) => server.wipe()));
    else await this.ensemble.wipe();
  }

  #server(id: number): ZooKeeperServer {
    const server = this.servers.find((candidate) => candidate.id === id);
    if (server === undefined) throw new Error(`There is no server ${id}.`);
    return server;
  }

  async #sessions(): Promise<readonly bigint[]> {
    const { leader } = await this.roles();
    return (await this.#server(leader).dump()).sessionIds;
  }
}
