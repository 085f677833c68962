import { Redis } from 'ioredis';
import { RedisFence } from '../../../../lib/fencing/redis/redis-fence.js';
import type { ProofStore, StoreSettings } from './proof-store.js';

export function redisStore({ redisPort, isGuarded }: StoreSettings): ProofStore {
  const client = new Redis({ port: redisPort, host: '127.0.0.1' });
  client.on('error', () => undefined);
  const fence = new RedisFence({ client });
  const resource = '/locks/redis';
  return {
    name: 'redis',
    claim: async (shown) => (isGuarded ? fence.claim(resource, shown.fencingToken) : undefined),
    read: async () => {
      if (isGuarded) return (await fence.read(resource))?.value.toString() ?? '';
      return (await client.get(resource)) ?? '';
    },
    write: async (text, shown) => {
      if (isGuarded) await fence.write(resource, text, shown.fencingToken);
      else await client.set(resource, text);
    },
    close: async () => client.disconnect(),
  };
}
