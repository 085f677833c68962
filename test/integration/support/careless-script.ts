import { sendToParent } from '../../support/process/parent.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import { startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

/** Starts a server and a proxy and comes to its end without stopping them, as a test does that fails. */
const server = await startZooKeeper();
const proxy = await startProxy({ target: server.port });
await sendToParent({ type: 'started', ports: [server.port, proxy.port] });
