import { logToStderr, reasonOf, type Log } from './command.js';
import { startContainer } from './container.js';
import { firstThatWorks, type Way } from './first-that-works.js';
import { useGivenServer } from './given.js';
import { areJarsNamed, zookeeperClasspath } from './jars.js';
import { startOwnServer } from './own-server.js';
import type { SharedZooKeeper } from './shared.js';

const ADVICE = `no ZooKeeper to test against. One of these helps:
  ZOOKEEPER_CONNECT=host:port npm test       an ensemble you have
  a running Docker daemon                    the image is ZOOKEEPER_IMAGE, or the official one
  ZOOKEEPER_HOME=<folder> npm test           an unpacked ZooKeeper distribution, and java
  apt-get install libzookeeper-java openjdk-17-jre-headless
On Debian as root the last one is done for you.`;

/**
 * The shared server of a test run: a given one, one from jars that somebody has named, a container, or one from the
 * machine's jars, in this order. The jars are fetched in any case: tests that kill, freeze or wipe start servers of their own from them.
 */
export async function findZooKeeper(log: Log = logToStderr): Promise<SharedZooKeeper> {
  const connect = process.env['ZOOKEEPER_CONNECT'] ?? '';
  if (connect === '') log('ZOOKEEPER_CONNECT is not set');
  const shared = await firstThatWorks(waysToZooKeeper(connect, log, areJarsNamed()), ADVICE, log);
  log(`tests use ${shared.connect} (${shared.kind})`);
  try {
    await zookeeperClasspath(log);
  } catch (error) {
    await shared.stop();
    throw new Error(`Tests that kill, freeze or wipe start servers of their own from the jars: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return shared;
}

/** The ways in the order in which they are tried; `connect` is empty when nobody named an ensemble. */
export function waysToZooKeeper(connect: string, log: Log, jarsAreNamed: boolean): Way<SharedZooKeeper>[] {
  const given = { name: `ZOOKEEPER_CONNECT=${connect}`, start: () => useGivenServer(connect) };
  const container = { name: 'Docker, through testcontainers', start: () => startContainer(log) };
  const jars = { name: "a server from ZooKeeper's jars", start: () => startOwnServer(log) };
  // Who names jars wants that version, whatever image there is.
  return [...(connect === '' ? [] : [given]), ...(jarsAreNamed ? [jars, container] : [container, jars])];
}
