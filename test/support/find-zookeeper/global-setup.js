// The runner loads this file as plain JavaScript; the hook lets it import the TypeScript beside it.
import '@swc-node/register/esm-register';

export default async function globalSetup() {
  const { findZooKeeper } = await import('./find.ts');
  const shared = await findZooKeeper();
  process.env.TEST_ZOOKEEPER_CONNECT = shared.connect;
  process.env.TEST_ZOOKEEPER_KIND = shared.kind;
  globalThis[Symbol.for('nestjs-zookeeper-lock.test.shared-zookeeper')] = shared;
}
