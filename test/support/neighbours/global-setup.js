// The runner loads this file as plain JavaScript; the hook lets it import the TypeScript beside it.
import '@swc-node/register/esm-register';

/** What is missing is installed here once, not by every test file: the jars of the servers, Curator, kazoo. */
export default async function globalSetup() {
  const { zookeeperClasspath } = await import('../find-zookeeper/jars.ts');
  const { curatorJava, kazooPython } = await import('./install.ts');
  await zookeeperClasspath();
  await curatorJava();
  await kazooPython();
}
