import { startZooKeeper } from '../zookeeper/start-zookeeper.js';
import type { Log } from './command.js';
import { zookeeperClasspath } from './jars.js';
import type { SharedZooKeeper } from './shared.js';

/** A single server from the machine's jars, for as long as the test run lasts. */
export async function startOwnServer(log: Log): Promise<SharedZooKeeper> {
  // Asked here for its progress to be seen: it may have to install the jars first.
  await zookeeperClasspath(log);
  const server = await startZooKeeper();
  return { kind: 'jars', connect: server.connect, stop: () => server.stop() };
}
