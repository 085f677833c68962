import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { within } from '../../support/process/eventually.js';
import { startProxy, type FaultProxy } from '../../support/proxy/fault-proxy.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { rawConnection, rawSession, type RawClient } from './raw-client.js';

export const NO_NODE = -101;

/** Long enough for anything to arrive on this machine that is going to. */
const SILENCE_MS = 150;

/** What the tests of the proxy play on: a server for the file, and for each test a proxy and a client beside it. */
export class ProxyStage {
  server!: StandaloneServer;
  proxy!: FaultProxy;
  /** A session that does not pass the proxy: what it sees is what the server has. */
  direct!: RawClient;
  private clients: RawClient[] = [];
  private paths = 0;

  constructor() {
    beforeAll(async () => {
      this.server = await startZooKeeper();
    });
    afterAll(() => this.server.stop());
    beforeEach(async () => {
      this.proxy = await startProxy({ target: this.server.port });
      this.direct = await rawSession(this.server.port);
      this.clients = [this.direct];
    });
    afterEach(async () => {
      for (const client of this.clients) client.destroy();
      await this.proxy.stop();
    });
  }

  /** A session through the proxy. */
  async session(): Promise<RawClient> {
    return this.connection().handshake(5_000);
  }

  /** A connection through the proxy, before its handshake. */
  connection(): RawClient {
    const client = rawConnection(this.proxy.port);
    this.clients.push(client);
    return client;
  }

  freshPath(): string {
    this.paths += 1;
    return `/fresh-${this.paths}`;
  }

  async existsOnServer(path: string): Promise<boolean> {
    return (await this.direct.exists(path)).errorCode !== NO_NODE;
  }

  async isConnectedToServer(sessionId: bigint): Promise<boolean> {
    return (await this.server.connections()).some((report) => report.sessionId === sessionId);
  }
}

/** Fails when `promise` settles while nothing should happen. */
export async function staysSilent(promise: Promise<unknown>): Promise<void> {
  await expect(within(SILENCE_MS, 'an answer', promise)).rejects.toThrow('Not within');
}
