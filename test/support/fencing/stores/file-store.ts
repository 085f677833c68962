import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import type { ProofStore, StoreSettings } from './proof-store.js';

export async function fileStore({ folder, isGuarded }: StoreSettings): Promise<ProofStore> {
  const resource = '/locks/file';
  const plain = join(folder, 'plain.txt');
  const store = await FencedFileStore.open({ root: join(folder, 'store') });
  return {
    name: 'file',
    claim: async (shown) => (isGuarded ? store.claim(resource, shown.fencingToken) : undefined),
    read: async () => {
      if (isGuarded) return (await store.read(resource))?.content.toString() ?? '';
      return readFile(plain, 'utf8').catch(() => '');
    },
    write: async (text, shown) => {
      if (isGuarded) await store.write(resource, text, shown.fencingToken);
      else await writeFile(plain, text);
    },
    close: async () => store[Symbol.asyncDispose](),
  };
}
