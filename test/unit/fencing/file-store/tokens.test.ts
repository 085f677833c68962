import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import { createLockService } from '../../../../lib/open.js';
import { temporaryRoot } from './support/temporary-root.js';
import { telling } from '../../../support/telling.js';

const HIGHEST = 2n ** 63n - 1n;

async function textIn(store: FencedFileStore, name: string): Promise<string | undefined> {
  return (await store.read(name))?.content.toString();
}

describe('a FencedFileStore', () => {
  it.each(['write', 'append', 'remove', 'claim', 'update'] as const)('refuses a stale %s', async (operation) => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    await store.write('a', 'new', 10n);
    const before = await readFile(join(root, 'a', 'journal.0'));

    const late = {
      write: () => store.write('a', 'old', 9n),
      append: () => store.append('a', 'old', 9n),
      remove: () => store.remove('a', 9n),
      claim: () => store.claim('a', 9n),
      update: () => store.update('a', 9n, () => 'old'),
    }[operation];
    await expect(late()).rejects.toThrow(StaleFencingTokenError);
    await expect(late()).rejects.toThrow(telling('a has seen the fencing token 10, so 9 comes too late'));

    expect(await textIn(store, 'a')).toBe('new');
    // Those who try again and again would fill the disk.
    expect(await readFile(join(root, 'a', 'journal.0'))).toEqual(before);
  });

  it('ignores what a stale writer adds behind the record of a newer one, as after a pause between look and write', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    await using other = await FencedFileStore.open({ root });
    await store.write('a', 'one', 9n);
    const late = (await readFile(join(root, 'a', 'journal.0'), 'utf8')).split('!\n').at(-1)!;
    await other.write('a', 'two', 10n);
    await writeFile(join(root, 'a', 'journal.0'), `!\n${late}`, { flag: 'a' });

    expect(await textIn(store, 'a')).toBe('two');
    await store.append('a', ' three', 10n);
    expect(await textIn(other, 'a')).toBe('two three');
  });

  it('shuts out an older holder by a claim, before anything is written', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    await store.write('a', 'old', 9n);
    await store.claim('a', 10n);

    await expect(store.write('a', 'late', 9n)).rejects.toThrow(StaleFencingTokenError);
    expect(await store.read('a')).toEqual({ content: Buffer.from('old'), fencingToken: 9n });
    expect(await store.highestToken('a')).toBe(10n);
  });

  it('claims a file that does not exist yet', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    await store.claim('a', 10n);

    await expect(store.append('a', 'late', 9n)).rejects.toThrow(StaleFencingTokenError);
    expect(await store.read('a')).toBeUndefined();
  });

  it('keeps 64 bits', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    await store.write('a', 'x', HIGHEST - 1n);
    await store.claim('a', HIGHEST);

    await expect(store.write('a', 'y', HIGHEST - 1n)).rejects.toThrow(StaleFencingTokenError);
    expect(await store.highestToken('a')).toBe(HIGHEST);
    expect((await store.read('a'))?.fencingToken).toBe(HIGHEST - 1n);
    await expect(store.write('a', 'y', HIGHEST + 1n)).rejects.toThrow(telling('Not a fencing token'));
    await expect(store.write('a', 'y', 0n)).rejects.toThrow(telling('Not a fencing token'));
  });
});

describe('the highest token', () => {
  it('is never raised by who reads', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    await using locks = await createLockService({ connect: 'memory:' });
    const token = await locks.withLock('/locks/a', async (writer) => {
      await store.write('a', 'text', writer);
      return writer.fencingToken;
    });
    const before = await readFile(join(root, 'a', 'journal.0'));
    await using reader = await locks.acquire('/locks/a', { mode: 'read' });
    expect(reader.fencingToken).toBeGreaterThan(token);

    expect(await textIn(store, 'a')).toBe('text');
    expect(await store.highestToken('a')).toBe(token);
    await expect(store.claim('a', reader)).rejects.toThrow(telling('/locks/a is held as read'));
    await expect(store.update('a', reader, () => 'x')).rejects.toThrow(telling('/locks/a is held as read'));
    expect(await readFile(join(root, 'a', 'journal.0'))).toEqual(before);
    await store.append('a', ', more', token);
    expect(await textIn(store, 'a')).toBe('text, more');
  });
});
