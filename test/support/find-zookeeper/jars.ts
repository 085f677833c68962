import { existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { logToStderr, reasonOf, run, type Log } from './command.js';
import { aptInstall, aptKnows, whyNotDebianAsRoot } from './debian.js';

export interface ZooKeeperJava {
  /** The java program. */
  java: string;
  /** What goes after `-cp` to run `org.apache.zookeeper.server.ZooKeeperServerMain` and its neighbours. */
  classpath: string;
}

/** Debian's zookeeper.jar names its dependencies in its manifest; these are the ones TLS and logging need besides. */
const DEBIAN_EXTRA_JARS = [
  'zookeeper-jute.jar',
  'netty-codec.jar',
  'netty-resolver.jar',
  'netty-transport-native-unix-common.jar',
  // Prints warnings and errors to stderr; without a binding slf4j prints three lines of its own at each start.
  'slf4j-simple.jar',
];

/** A distribution's logging back ends: unconfigured they print every debug line. Without them the server is quiet. */
const NOISY_JARS = /^(logback-|slf4j-log4j|slf4j-reload4j|reload4j|log4j-)/;

let found: Promise<ZooKeeperJava> | undefined;

/**
 * Java and the class path of a ZooKeeper server: from `ZOOKEEPER_JARS` (a class path; a folder stands for its jars),
 * `ZOOKEEPER_HOME` (an unpacked distribution), the Debian package, or, on Debian as root, by installing that package.
 * Rejects with what to do when there is none.
 */
export function zookeeperClasspath(log: Log = logToStderr): Promise<ZooKeeperJava> {
  found ??= find(log).catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  return found;
}

async function find(log: Log): Promise<ZooKeeperJava> {
  let classpath = await classpathHere();
  let java = await javaHere();
  if (classpath !== undefined && java !== undefined) return { java, classpath };

  const missing = [...(classpath === undefined ? ['ZooKeeper jars'] : []), ...(java === undefined ? ['java'] : [])];
  const obstacle = await whyNotDebianAsRoot();
  if (obstacle !== undefined)
    throw new Error(`no ${missing.join(' and no ')} on this machine, and ${obstacle}. ${ADVICE}`);

  log(`no ${missing.join(' and no ')} on this machine: installing Debian's`);
  const packages = await aptKnows('openjdk-17-jre-headless').then((known) => [
    'libzookeeper-java',
    known ? 'openjdk-17-jre-headless' : 'default-jre-headless',
  ]);
  await aptInstall(packages, log).catch((error: unknown) => {
    throw new Error(`${reasonOf(error)}. ${ADVICE}`, { cause: error });
  });

  classpath = await classpathHere();
  java = await javaHere();
  if (classpath !== undefined && java !== undefined) return { java, classpath };
  throw new Error(`installed ${packages.join(' ')}, yet java or the jars are still not to be found. ${ADVICE}`);
}

const ADVICE =
  'Install them (Debian: apt-get install libzookeeper-java openjdk-17-jre-headless), or set ZOOKEEPER_HOME to an ' +
  'unpacked ZooKeeper distribution, or ZOOKEEPER_JARS to a class path; java is looked for in JAVA_HOME and PATH.';

/** Whether somebody has said which ZooKeeper it is to be. */
export function areJarsNamed(): boolean {
  return [process.env['ZOOKEEPER_JARS'], process.env['ZOOKEEPER_HOME']].some((named) => (named ?? '') !== '');
}

async function classpathHere(): Promise<string | undefined> {
  const given = process.env['ZOOKEEPER_JARS'];
  if (given !== undefined && given !== '') return given.split(delimiter).flatMap(jarsOf).join(delimiter);

  const home = process.env['ZOOKEEPER_HOME'];
  if (home !== undefined && home !== '') return [home, join(home, 'lib')].flatMap(jarsOf).join(delimiter);

  const files = await run('dpkg', ['-L', 'libzookeeper-java']).catch(() => '');
  const main = files.split('\n').find((file) => file.endsWith('/java/zookeeper.jar'));
  if (main === undefined || !existsSync(main)) return undefined;
  const folder = join(main, '..');
  const extra = DEBIAN_EXTRA_JARS.map((name) => join(folder, name)).filter((file) => existsSync(file));
  return [main, ...extra].join(delimiter);
}

function jarsOf(entry: string): string[] {
  if (!existsSync(entry)) throw new Error(`${entry}, named by ZOOKEEPER_JARS or ZOOKEEPER_HOME, does not exist.`);
  if (!statSync(entry).isDirectory()) return [entry];
  const names = readdirSync(entry).filter((name) => name.endsWith('.jar') && !NOISY_JARS.test(name));
  return names.sort().map((name) => join(entry, name));
}

async function javaHere(): Promise<string | undefined> {
  const home = process.env['JAVA_HOME'];
  const candidates = [...(home === undefined || home === '' ? [] : [join(home, 'bin', 'java')]), 'java'];
  for (const java of candidates) {
    const works = await run(java, ['-version']).then(
      () => true,
      () => false,
    );
    if (works) return java;
  }
  return undefined;
}
