import zookeeper from 'node-zookeeper-client';
import { NODE_DATA, SESSION_TIMEOUT_MS, type SessionDriver } from './driver.js';

export async function connectPureJs(connect: string): Promise<SessionDriver> {
  const client = zookeeper.createClient(connect, { sessionTimeout: SESSION_TIMEOUT_MS });
  await new Promise<void>((resolve) => {
    client.once('connected', resolve);
    client.connect();
  });
  const { EPHEMERAL_SEQUENTIAL, PERSISTENT } = zookeeper.CreateMode;
  return {
    makeParent: (path) =>
      new Promise((resolve) => {
        client.create(path, Buffer.alloc(0), PERSISTENT, () => resolve());
      }),
    async createAndList(parent) {
      const created = new Promise<string>((resolve, reject) => {
        client.create(`${parent}/lock-`, NODE_DATA, EPHEMERAL_SEQUENTIAL, (error, path) =>
          isFailure(error) ? reject(toError(error)) : resolve(path),
        );
      });
      const listed = new Promise<void>((resolve, reject) => {
        client.getChildren(parent, (error) => (isFailure(error) ? reject(toError(error)) : resolve()));
      });
      const [path] = await Promise.all([created, listed]);
      return path;
    },
    remove: (path) =>
      new Promise((resolve, reject) => {
        client.remove(path, -1, (error) => (isFailure(error) ? reject(toError(error)) : resolve()));
      }),
    close: () =>
      new Promise((resolve) => {
        client.once('disconnected', resolve);
        client.close();
      }),
  };
}

/** The package's types promise an error always; there is none after a success. */
function isFailure(error: unknown): boolean {
  return error !== null && error !== undefined;
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
