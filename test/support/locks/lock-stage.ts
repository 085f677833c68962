import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { RECORD_KEEPER } from '../../../lib/queue/reserved-names.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import type { DistributedLockOptions } from '../../../lib/options.js';
import { failedWith, SessionError } from '../../../lib/session/errors.js';
import { get, list, remove, type Stat, sync } from '../../../lib/session/requests.js';
import type { SessionClient } from '../../../lib/session/core/session-client.js';
import { eventually } from '../process/eventually.js';
import { nativePackage } from '../native/package-is-there.js';
import { startProxy } from '../proxy/fault-proxy.js';
import { openWire, untilUp } from '../sessions/wire-session.js';
import { startEnsemble, type Ensemble } from '../zookeeper/ensemble.js';
import type { ServerOptions } from '../zookeeper/options.js';
import type { ZooKeeperServer } from '../zookeeper/server.js';
import { startZooKeeper } from '../zookeeper/start-zookeeper.js';
import { LockClient } from './lock-client.js';
import { clientUnderTest } from '../simulation/client-under-test.js';
import { LONG_SESSION_MS, TICK_MS } from './times.js';
import { replyTo } from '../sessions/reply-to.js';

export interface ClientOptions extends Omit<DistributedLockOptions, 'connect'> {
  /** The servers it knows of. @default all */
  readonly only?: readonly ZooKeeperServer[];
  /** Whether to wait for its session. @default true */
  readonly untilUp?: boolean;
}

export interface Contention {
  readonly key: string;
  readonly lock: LockHandle;
  readonly waiting: Promise<LockHandle>;
  /** The name of the node of the one that waits. */
  readonly place: string;
}

/**
 * What the promises are played on: servers for the file, lock services with proxies for each test, an operator who sees
 * what the servers have. After each test everything is closed, and nothing of it may be left at the servers.
 */
export class LockStage {
  servers: readonly ZooKeeperServer[] = [];
  #ensemble: Ensemble | undefined;
  #stopServers: () => Promise<void> = async () => undefined;
  #operator: SessionClient | undefined;
  #clients: LockClient[] = [];
  #keys = 0;

  constructor(serverCount: 1 | 3 = 1, options: ServerOptions = {}) {
    const serverOptions = { tickTimeMs: TICK_MS, ...options };
    beforeAll(() => this.#start(serverCount, serverOptions), 60_000);
    afterAll(async () => {
      await this.#operator?.close();
      await this.#stopServers();
    }, 30_000);
    afterEach(() => this.#endTest(), 60_000);
  }

  get server(): ZooKeeperServer {
    const [server] = this.servers;
    if (server === undefined || this.servers.length > 1) throw new Error('Which of the servers?');
    return server;
  }

  get ensemble(): Ensemble {
    if (this.#ensemble === undefined) throw new Error('There is one server only.');
    return this.#ensemble;
  }

  get connect(): string {
    return this.servers.map(({ connect }) => connect).join(',');
  }

  freshKey(): string {
    this.#keys += 1;
    return `/locks/fresh-${this.#keys}`;
  }

  async open({ only, untilUp: waits = true, ...options }: ClientOptions = {}): Promise<LockClient> {
    const proxies = await Promise.all((only ?? this.servers).map(({ port }) => startProxy({ target: port })));
    const settings = {
      sessionTimeoutMs: LONG_SESSION_MS,
      serverTickMs: TICK_MS,
      waitMs: 15_000,
      client: clientUnderTest(),
      ...options,
    };
    const client = new LockClient(proxies, settings);
    this.#clients.push(client);
    if (waits) await client.untilUp();
    return client;
  }

  /** Resolves when the servers have forgotten a session. */
  async untilExpired(sessionId: bigint, withinMs = 15_000): Promise<void> {
    const isGone = async (): Promise<boolean> => !(await this.sessionIds()).includes(sessionId);
    await eventually('the servers have ended the session', isGone, { withinMs, everyMs: 20 });
  }

  /** The client cannot be heard until the servers have ended its session, and can come back then. */
  async expire(client: LockClient): Promise<void> {
    const sessionId = client.sessionId();
    await client.refuse();
    await this.untilExpired(sessionId);
    await client.pass();
  }

  /** The names in the queue of a key as the leader has it, in the order of their creation. */
  async queue(key: string): Promise<string[]> {
    const [synced, listed] = await (await this.#operates()).batch([sync(key), list(key)]);
    if (failedWith(listed, 'NO_NODE')) return [];
    if (synced instanceof SessionError) throw synced;
    if (listed instanceof SessionError) throw listed;
    const names = listed.children.filter((name) => name !== RECORD_KEEPER);
    return names.sort((one, other) => Number(one.slice(-10)) - Number(other.slice(-10)));
  }

  async keyNode(key: string): Promise<Stat> {
    return (await replyTo(await this.#operates(), get(key))).stat;
  }

  async untilQueueHas(key: string, length: number, withinMs = 10_000): Promise<string[]> {
    const isIt = async (): Promise<string[] | undefined> => {
      const names = await this.queue(key);
      return names.length === length ? names : undefined;
    };
    return eventually(`${length} contenders queue on ${key}`, isIt, { withinMs, everyMs: 10 });
  }

  /** One holds a fresh key, and another waits for it. */
  async contend(holder: LockClient, other: LockClient): Promise<Contention> {
    const key = this.freshKey();
    const lock = await holder.service.acquire(key);
    const waiting = other.service.acquire(key);
    const [, place] = await this.untilQueueHas(key, 2);
    return { key, lock, waiting, place: place! };
  }

  /** As an operator does it, with zkCli. */
  async deleteNode(path: string): Promise<void> {
    await replyTo(await this.#operates(), remove(path));
  }

  /** A session without a proxy, for all that a test does to nodes by hand. */
  async operator(): Promise<SessionClient> {
    return this.#operates();
  }

  async sessionIds(): Promise<bigint[]> {
    return (await (await this.#leader()).dump()).sessionIds;
  }

  /** Ephemeral nodes of all clients, except those in which sessions write their heartbeats. */
  async ephemerals(): Promise<string[]> {
    const { ephemerals } = await (await this.#leader()).dump();
    return [...ephemerals.values()].flat().filter((path) => !path.includes('/.sessions/'));
  }

  /** Lists included, which `wchs` leaves out. */
  async watchCount(): Promise<number> {
    const figures = await Promise.all(this.servers.map((server) => server.monitor()));
    return figures.reduce((sum, figure) => sum + Number(figure.get('zk_watch_count')), 0);
  }

  async untilNothingIsLeft(withinMs = 10_000): Promise<void> {
    const isClean = async (): Promise<boolean> =>
      (await this.ephemerals()).length === 0 && (await this.watchCount()) === 0;
    await eventually('no node and no watch is left', isClean, { withinMs, everyMs: 10 });
  }

  async #start(serverCount: 1 | 3, options: ServerOptions): Promise<void> {
    if (clientUnderTest() === 'native') nativePackage();
    if (serverCount === 3) {
      const ensemble = await startEnsemble({ ...options, servers: 3 });
      this.#ensemble = ensemble;
      this.servers = ensemble.servers;
      this.#stopServers = () => ensemble.stop();
    } else {
      const server = await startZooKeeper(options);
      this.servers = [server];
      this.#stopServers = () => server.stop();
    }
  }

  async #endTest(): Promise<void> {
    const clients = this.#clients.splice(0);
    await Promise.all(clients.map((client) => client.end()));
    for (const { service } of clients) expect(service.connectionState).toBe('closed');
    await this.untilNothingIsLeft();
  }

  async #leader(): Promise<ZooKeeperServer> {
    return this.#ensemble === undefined ? this.server : this.#ensemble.leader();
  }

  async #operates(): Promise<SessionClient> {
    this.#operator ??= openWire(
      this.servers.map(({ port }) => port),
      { sessionTimeoutMs: 10_000 },
    );
    await untilUp(this.#operator);
    return this.#operator;
  }
}
