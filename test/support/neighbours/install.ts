import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { logToStderr, reasonOf, run, type Log } from '../find-zookeeper/command.js';
import { aptInstall, aptKnows, whyNotDebianAsRoot } from '../find-zookeeper/debian.js';
import type { ZooKeeperJava } from '../find-zookeeper/jars.js';

const CURATOR_ADVICE =
  'The tests of interoperation need Curator 5 and a JDK. Install them (Debian: apt-get install libcurator-recipes-java ' +
  'openjdk-17-jdk-headless), or set CURATOR_JARS to a class path of curator-recipes and all it needs, and JAVA_HOME to a JDK.';
const KAZOO_ADVICE =
  'The tests of interoperation need kazoo. Install it (Debian: apt-get install python3-kazoo), or set KAZOO_PYTHON to a ' +
  'Python that can import it.';

const DEBIAN_JAVA = '/usr/lib/jvm';

/** A JDK and the class path of Curator's recipes; installs Debian's packages where they are missing and that is possible. */
export async function curatorJava(log: Log = logToStderr): Promise<ZooKeeperJava> {
  const found = await curatorHere();
  if (found !== undefined) return found;
  const compiler = (await aptKnowsAfterUpdate('openjdk-17-jdk-headless'))
    ? 'openjdk-17-jdk-headless'
    : 'default-jdk-headless';
  await install(['libcurator-recipes-java', 'libslf4j-java', compiler], CURATOR_ADVICE, log);
  const installed = await curatorHere();
  if (installed === undefined) throw new Error(`Curator is installed, yet not to be found. ${CURATOR_ADVICE}`);
  return installed;
}

/** A Python that can import kazoo: Debian's comes before others, which seldom know Debian's packages. */
export async function kazooPython(log: Log = logToStderr): Promise<string> {
  const found = await kazooHere();
  if (found !== undefined) return found;
  await install(['python3-kazoo'], KAZOO_ADVICE, log);
  const installed = await kazooHere();
  if (installed === undefined) throw new Error(`kazoo is installed, yet no Python can import it. ${KAZOO_ADVICE}`);
  return installed;
}

async function install(packages: readonly string[], advice: string, log: Log): Promise<void> {
  const obstacle = await whyNotDebianAsRoot();
  if (obstacle !== undefined) throw new Error(`${advice} (It is not done for you: ${obstacle}.)`);
  await aptInstall(packages, log).catch((error: unknown) => {
    throw new Error(`${reasonOf(error)}. ${advice}`, { cause: error });
  });
}

/** Knows a package or does not; a machine that has never updated its lists knows none. */
async function aptKnowsAfterUpdate(name: string): Promise<boolean> {
  if ((await whyNotDebianAsRoot()) !== undefined || (await aptKnows(name))) return true;
  await run('apt-get', ['update', '-qq']).catch(() => '');
  return aptKnows(name);
}

async function curatorHere(): Promise<ZooKeeperJava | undefined> {
  const classpath = process.env['CURATOR_JARS'] || (await debianClasspath());
  if (classpath === undefined) return undefined;
  for (const java of javaCandidates()) if (await canCompile(java)) return { java, classpath };
  return undefined;
}

async function debianClasspath(): Promise<string | undefined> {
  const files = await run('dpkg', ['-L', 'libcurator-recipes-java']).catch(() => '');
  const recipes = files.split('\n').find((file) => file.endsWith('/java/curator-recipes.jar'));
  if (recipes === undefined || !existsSync(recipes)) return undefined;
  // The jar names what it needs in its manifest. Without a binding slf4j prints three lines of its own at each start.
  return [recipes, join(dirname(recipes), 'slf4j-simple.jar')].join(':');
}

function javaCandidates(): string[] {
  const home = process.env['JAVA_HOME'];
  const given = home === undefined || home === '' ? [] : [join(home, 'bin', 'java')];
  // Where Debian keeps all it has: another one, without a compiler, may come first in the path.
  const machines = existsSync(DEBIAN_JAVA) ? readdirSync(DEBIAN_JAVA).map((name) => join(DEBIAN_JAVA, name)) : [];
  return [
    ...given,
    'java',
    ...machines.map((machine) => join(machine, 'bin', 'java')).filter((path) => existsSync(path)),
  ];
}

/** `java File.java` compiles in memory: a runtime without the compiler cannot. */
function canCompile(java: string): Promise<boolean> {
  return run(java, ['--list-modules']).then(
    (modules) => modules.includes('jdk.compiler@'),
    () => false,
  );
}

async function kazooHere(): Promise<string | undefined> {
  const given = process.env['KAZOO_PYTHON'];
  const candidates = given === undefined || given === '' ? ['/usr/bin/python3', 'python3'] : [given];
  for (const python of candidates) {
    const imports = await run(python, ['-c', 'import kazoo.client']).then(
      () => true,
      () => false,
    );
    if (imports) return python;
  }
  return undefined;
}
