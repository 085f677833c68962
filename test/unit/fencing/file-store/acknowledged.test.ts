import { type FileHandle, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { encodeRecord, type RecordKind } from '../../../../lib/fencing/file-store/record.js';
import { temporaryRoot } from './support/temporary-root.js';

type Datasync = FileHandle['datasync'];

/** What all open files have in common. */
async function prototypeOfFiles(path: string): Promise<{ datasync: Datasync }> {
  const file = await open(path);
  await file.close();
  return Object.getPrototypeOf(file) as { datasync: Datasync };
}

describe('what another process has written, and not synced yet,', () => {
  let store: FencedFileStore;
  let journal: string;
  let files: { datasync: Datasync };
  let datasync: Datasync;
  /** Resolves when a sync has begun; the sync goes on when it is let go. */
  let begun: Promise<'syncs'>;
  let letGo: () => void;

  beforeEach(async () => {
    const root = temporaryRoot();
    store = await FencedFileStore.open({ root });
    await store.write('a', 'x', 5n);
    journal = join(root, 'a', 'journal.0');
    files = await prototypeOfFiles(journal);
    datasync = files.datasync;
  });
  afterEach(async () => {
    files.datasync = datasync;
    await store.close();
  });

  /** From now on every sync of this process waits in front of the disk. */
  function holdSyncs(): void {
    let onBegun: (what: 'syncs') => void;
    begun = new Promise((resolve) => (onBegun = resolve));
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    files.datasync = async function (this: FileHandle) {
      onBegun('syncs');
      await gate;
      await datasync.call(this);
    };
  }

  async function otherWrites(kind: RecordKind, token: bigint, text = ''): Promise<void> {
    const record = encodeRecord({ kind, token, id: `other-${kind}-${token}`, payload: Buffer.from(text) });
    await writeFile(journal, record, { flag: 'a' });
  }

  /** Whether it waits for a sync, or is there before one. */
  function first(operation: Promise<unknown>): Promise<unknown> {
    return Promise.race([begun, operation.then(() => 'is acknowledged')]);
  }

  it.each<[string, (of: FencedFileStore) => Promise<unknown>, unknown]>([
    ['a claim of the same token', (of) => of.claim('a', 9n), undefined],
    ['a read', (of) => of.read('a'), { content: Buffer.from('theirs'), fencingToken: 9n }],
    ['a look at the highest token', (of) => of.highestToken('a'), 9n],
  ])('is on the disk before anybody is told of it: %s', async (_, operation, result) => {
    await otherWrites('write', 9n, 'theirs');
    holdSyncs();
    const telling = operation(store);
    expect(await first(telling)).toBe('syncs');
    letGo();
    expect(await telling).toEqual(result);

    // Once is enough.
    holdSyncs();
    expect(await first(operation(store))).toBe('is acknowledged');
  });

  it('is so also where it came behind a record of our own, while that was synced', async () => {
    holdSyncs();
    const writing = store.write('a', 'ours', 9n);
    expect(await first(writing)).toBe('syncs');
    await otherWrites('claim', 12n);
    letGo();
    await writing;

    holdSyncs();
    const claiming = store.claim('a', 12n);
    expect(await first(claiming)).toBe('syncs');
    letGo();
    await claiming;
  });

  it('is not waited for by who is refused for it: that was the last of it', async () => {
    await otherWrites('claim', 9n);
    holdSyncs();
    await expect(store.write('a', 'late', 6n)).rejects.toMatchObject({ code: 'STALE_FENCING_TOKEN' });
  });

  it.each<[string, (of: FencedFileStore) => Promise<unknown>]>([
    ['write', (of) => of.write('a', 'y', 6n)],
    ['append', (of) => of.append('a', 'y', 6n)],
    ['remove', (of) => of.remove('a', 6n)],
    ['claim', (of) => of.claim('a', 6n)],
    ['update', (of) => of.update('a', 5n, () => 'y')],
  ])(
    'nothing of it, or of what this process has written, is acknowledged before it is on the disk: %s',
    async (_, operation) => {
      holdSyncs();
      const changing = operation(store);
      expect(await first(changing)).toBe('syncs');
      letGo();
      await changing;
    },
  );
});
