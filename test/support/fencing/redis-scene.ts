import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisFence } from '../../../lib/fencing/redis/redis-fence.js';
import { type RedisServer, startRedis } from '../redis/start-redis.js';

const INSTALL_MS = 400_000;

/** A Redis that forgets nothing, and a fence over it. */
export interface RedisScene {
  readonly server: RedisServer;
  readonly client: Redis;
  readonly fence: RedisFence;
}

/** For the tests of the `describe` around this call: a scene of their own, empty before each. */
export function useRedis(): () => RedisScene {
  let scene: RedisScene | undefined;
  const get = (): RedisScene => {
    if (scene === undefined) throw new Error('Redis is only being started: use it in hooks and tests');
    return scene;
  };
  beforeAll(async () => {
    const server = await startRedis({ durable: true });
    const client = connect(server.port);
    scene = { server, client, fence: new RedisFence({ client }) };
  }, INSTALL_MS);
  afterAll(async () => {
    scene?.client.disconnect();
    await scene?.server.stop();
  }, 30_000);
  beforeEach(() => get().client.flushall());
  return get;
}

export function connect(port: number, options: { readonly enableAutoPipelining?: boolean } = {}): Redis {
  const made = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 20, ...options });
  made.on('error', () => undefined);
  return made;
}

export async function textOf(fence: RedisFence, resource: string): Promise<string | undefined> {
  return (await fence.read(resource))?.value.toString();
}

export const add = (entry: string) => (current: Buffer | undefined) => `${current?.toString() ?? ''}${entry}`;
