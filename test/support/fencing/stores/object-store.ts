import { FencedObjects } from '../../../../lib/fencing/objects/fenced-objects.js';
import { objectClient } from '../object-server.js';
import type { ProofStore, StoreSettings } from './proof-store.js';

/** An object of the test's own server, written with conditions, or as clients write that know none. */
export function objectStore({ objectsUrl, isGuarded }: StoreSettings): ProofStore {
  const objects = new FencedObjects({ client: objectClient({ url: objectsUrl }) });
  const resource = '/locks/objects';
  const plain = `${objectsUrl}/open`;
  return {
    name: 'objects',
    claim: async (shown) => (isGuarded ? objects.claim(resource, shown.fencingToken) : undefined),
    read: async () => {
      if (isGuarded) return (await objects.read(resource))?.content.toString() ?? '';
      const response = await fetch(plain);
      return response.ok ? response.text() : '';
    },
    write: async (text, shown) => {
      if (isGuarded) await objects.write(resource, text, shown.fencingToken);
      else await fetch(plain, { method: 'PUT', body: text });
    },
    close: async () => undefined,
  };
}
