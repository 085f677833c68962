/** Where the shared server of a test run came from. */
export type ZooKeeperKind = 'given' | 'container' | 'jars';

/** One server for the contract and the happy paths; tests use a fresh chroot on it and never harm it. */
export interface SharedZooKeeper {
  readonly kind: ZooKeeperKind;
  /** `host:port[,host:port...][/chroot]` */
  readonly connect: string;
  stop(): Promise<void>;
}

/** The shared server's connect string, inside a test. */
export function sharedConnect(): string {
  const connect = process.env['TEST_ZOOKEEPER_CONNECT'];
  if (connect === undefined)
    throw new Error('No shared ZooKeeper: this test belongs in test/contract or test/integration.');
  return connect;
}

/** Where the shared server came from, inside a test. */
export function sharedKind(): ZooKeeperKind {
  const kind = process.env['TEST_ZOOKEEPER_KIND'];
  if (kind === 'given' || kind === 'container' || kind === 'jars') return kind;
  throw new Error('No shared ZooKeeper: this test belongs in test/contract or test/integration.');
}
