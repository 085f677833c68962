import { reasonOf, type Log } from './command.js';
import { waitUntilServing } from './handshake.js';
import type { SharedZooKeeper } from './shared.js';

const CLIENT_PORT = 2181;

/** The image tests run against unless `ZOOKEEPER_IMAGE` names another. */
const DEFAULT_IMAGE = 'zookeeper:3.9';

/** A server in a container, when a Docker daemon answers. */
export async function startContainer(log: Log): Promise<SharedZooKeeper> {
  // Loaded here only: it takes half a second, and a given server does not need it.
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers');
  await getContainerRuntimeClient().catch((error: unknown) => {
    throw new Error(`no Docker daemon answers (${reasonOf(error)})`, { cause: error });
  });

  const image = process.env['ZOOKEEPER_IMAGE'] ?? DEFAULT_IMAGE;
  log(`a Docker daemon answers: starting ${image} (ZOOKEEPER_IMAGE)`);
  // Variables of the official image: quick sessions, all four-letter words, no admin server to trip over.
  const container = await new GenericContainer(image)
    .withEnvironment({
      ZOO_TICK_TIME: '500',
      ZOO_MAX_CLIENT_CNXNS: '0',
      ZOO_4LW_COMMANDS_WHITELIST: '*',
      ZOO_ADMINSERVER_ENABLED: 'false',
      ZOO_CFG_EXTRA: 'extendedTypesEnabled=true',
    })
    .withExposedPorts(CLIENT_PORT)
    .withStartupTimeout(120_000)
    .start();
  const stop = async () => {
    await container.stop({ remove: true, removeVolumes: true });
  };
  try {
    const host = container.getHost();
    const port = container.getMappedPort(CLIENT_PORT);
    await waitUntilServing(host, port, 60_000);
    return { kind: 'container', connect: `${host}:${port}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
