import { join } from 'node:path';
import { zookeeperClasspath } from '../find-zookeeper/jars.js';
import { freePort } from '../proxy/ports.js';
import type { ServerOptions } from './options.js';
import { ZooKeeperServer, type ServerSettings } from './server.js';
import { clearWorkspace, makeWorkspace, withOtherPortsWhenTaken } from './workspace.js';
import { started } from '../process/started.js';

/** A single server in a folder of its own. */
export class StandaloneServer extends ZooKeeperServer {
  constructor(
    private readonly workspace: string,
    settings: ServerSettings,
  ) {
    super(settings);
  }

  /** Kills the server and removes all it left. Safe to call twice. */
  async stop(): Promise<void> {
    await clearWorkspace(this.workspace, [this]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Starts a single server from the machine's jars; resolves when it serves. */
export async function startZooKeeper(options: ServerOptions = {}): Promise<StandaloneServer> {
  const java = await zookeeperClasspath();
  return withOtherPortsWhenTaken(async () => {
    const workspace = await makeWorkspace();
    const server = new StandaloneServer(workspace, {
      serverId: 1,
      folder: join(workspace, 'server'),
      ports: { client: await freePort(), secure: options.tls === undefined ? undefined : await freePort() },
      peers: [],
      options,
      java,
    });
    return started(server, () => server.start());
  });
}
