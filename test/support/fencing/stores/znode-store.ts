import { sessionAccess } from '../../../../lib/engine/lock-service.js';
import { FencedZnodes } from '../../../../lib/fencing/znodes/fenced-znodes.js';
import { SessionError } from '../../../../lib/session/errors.js';
import { create, set } from '../../../../lib/session/requests.js';
import { eventually } from '../../process/eventually.js';
import type { ProofStore, StoreSettings } from './proof-store.js';

export function znodeStore({ locks, isGuarded }: StoreSettings): ProofStore {
  const root = '/data';
  const path = isGuarded ? '/text' : '/open';
  const znodes = new FencedZnodes({ locks, root });

  /** As a client does it that knows ZooKeeper, but not of tokens: tries until the link is back. */
  async function setData(text: string): Promise<void> {
    const { session } = locks[sessionAccess]();
    await eventually('the node is written', async () => {
      const [, , written] = await session.batch([
        create(root, 'persistent'),
        create(`${root}${path}`, 'persistent'),
        set(`${root}${path}`, Buffer.from(text)),
      ]);
      if (written instanceof SessionError) throw written;
      return true;
    });
  }

  return {
    name: 'znodes',
    claim: async (shown) => (isGuarded ? znodes.claim(path, shown) : undefined),
    read: async () => (await znodes.read(path))?.data.toString() ?? '',
    write: async (text, shown) => {
      if (isGuarded) await znodes.write(path, text, shown);
      else await setData(text);
    },
    close: async () => undefined,
  };
}
