import { NODE_DATA, SESSION_TIMEOUT_MS, type SessionDriver } from './driver.js';

/** The part of the npm package `zookeeper` that is used; it is no dependency, so its own types may be absent. */
interface NativeClient {
  init(config: object): void;
  once(event: string, listener: () => void): void;
  create(path: string, data: Buffer | string, flags: number): Promise<string>;
  get_children(path: string, watch: boolean): Promise<string[]>;
  delete_(path: string, version: number): Promise<unknown>;
  pathExists(path: string, watch: boolean): Promise<boolean>;
  close(): void;
}

interface NativeModule {
  default: new (config?: object) => NativeClient;
}

const EPHEMERAL_SEQUENTIAL = 3;
const PERSISTENT = 0;
const PACKAGE: string = 'zookeeper';

export async function connectNative(connect: string): Promise<SessionDriver> {
  const { default: ZooKeeper } = (await import(PACKAGE)) as NativeModule;
  const config = { connect, timeout: SESSION_TIMEOUT_MS, debug_level: 1, host_order_deterministic: false };
  const client = new ZooKeeper(config);
  await new Promise<void>((resolve) => {
    client.once('connect', resolve);
    client.init(config);
  });
  return {
    async makeParent(path) {
      if (!(await client.pathExists(path, false))) await client.create(path, '', PERSISTENT);
    },
    async createAndList(parent) {
      const [path] = await Promise.all([
        client.create(`${parent}/lock-`, NODE_DATA, EPHEMERAL_SEQUENTIAL),
        client.get_children(parent, false),
      ]);
      return path;
    },
    async remove(path) {
      await client.delete_(path, -1);
    },
    close() {
      client.close();
      return Promise.resolve();
    },
  };
}
