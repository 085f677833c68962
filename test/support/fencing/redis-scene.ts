import { Redis } from 'ioredis';
import { RedisFence } from '../../../lib/extras/fencing/redis/redis-fence.js';
import { type RedisServer, startRedis } from '../redis/start-redis.js';

/** A Redis that forgets nothing, and a fence over it. */
export interface RedisScene {
  readonly server: RedisServer;
  readonly client: Redis;
  readonly fence: RedisFence;
  stop(): Promise<void>;
}

export async function startRedisScene(): Promise<RedisScene> {
  const server = await startRedis({ durable: true });
  const client = connect(server.port);
  const stop = async (): Promise<void> => {
    client.disconnect();
    await server.stop();
  };
  return { server, client, fence: new RedisFence({ client }), stop };
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
