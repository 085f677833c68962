import { copyFile, link, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { Generations } from '../../../../lib/fencing/file-store/generations.js';
import { encodeRecord } from '../../../../lib/fencing/file-store/record.js';
import { StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import { temporaryRoot } from './support/temporary-root.js';

const SMALL = { minJournalBytes: 512 };

async function textIn(store: FencedFileStore, name: string): Promise<string | undefined> {
  return (await store.read(name))?.content.toString();
}

/** Adds until the file has gone over to the next journal. */
async function addUntilNext(store: FencedFileStore, folder: string, token: bigint): Promise<void> {
  const before = await readdir(folder);
  while ((await readdir(folder)).join() === before.join()) await store.write('a', 'x'.repeat(100), token);
}

const seal = encodeRecord({ kind: 'seal', token: 9n, id: 'by-hand', payload: Buffer.alloc(0) });

describe('the journals of a file', () => {
  it('are one at a time, small, and go over to the next with everything', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.openWith({ root }, SMALL);
    for (let token = 1n; token <= 100n; token += 1n) await store.write('a', `content of ${token}`, token);

    const [journal, ...others] = await readdir(join(root, 'a'));
    expect(others).toEqual([]);
    expect(Number(journal?.split('.')[1])).toBeGreaterThan(10);
    expect((await readFile(join(root, 'a', journal!))).length).toBeLessThan(1_024);
    expect(await store.read('a')).toEqual({ content: Buffer.from('content of 100'), fencingToken: 100n });
    await expect(store.write('a', 'late', 99n)).rejects.toThrow(StaleFencingTokenError);
  });

  it('keep the tokens of what is removed', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.openWith({ root }, SMALL);
    await addUntilNext(store, join(root, 'a'), 7n).catch(() => store.write('a', 'x', 7n));
    await store.remove('a', 8n);
    for (let token = 9n; token <= 30n; token += 1n) await store.remove('a', token);

    await using again = await FencedFileStore.openWith({ root }, SMALL);
    expect(await readdir(join(root, 'a'))).not.toContain('journal.0');
    expect(await again.read('a')).toBeUndefined();
    expect(await again.highestToken('a')).toBe(30n);
    await expect(again.write('a', 'late', 29n)).rejects.toThrow(StaleFencingTokenError);
  });

  it('are followed by every store, also by one that has the last one open', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.openWith({ root }, SMALL);
    await using other = await FencedFileStore.openWith({ root }, SMALL);
    await store.write('a', 'first', 1n);
    expect(await textIn(other, 'a')).toBe('first');
    await addUntilNext(store, join(root, 'a'), 2n);
    await addUntilNext(store, join(root, 'a'), 3n);

    await expect(other.append('a', 'late', 2n)).rejects.toThrow(StaleFencingTokenError);
    await other.append('a', '!', 3n);
    expect(await textIn(store, 'a')).toBe(`${'x'.repeat(100)}!`);
  });

  it.each(['read', 'append'] as const)(
    'get their successor from whoever comes next (%s) after a crash',
    async (first) => {
      const root = temporaryRoot();
      await using store = await FencedFileStore.open({ root });
      await store.write('a', 'sealed', 9n);
      await writeFile(join(root, 'a', 'journal.0'), seal, { flag: 'a' });
      await writeFile(join(root, 'a', 'journal.1.crashed.tmp'), 'half a');

      if (first === 'append') await store.append('a', '!', 9n);
      expect(await textIn(store, 'a')).toBe(first === 'append' ? 'sealed!' : 'sealed');
      expect(await readdir(join(root, 'a'))).toEqual(['journal.1']);
      await expect(store.write('a', 'late', 8n)).rejects.toThrow(StaleFencingTokenError);
    },
  );

  it('take no record behind the seal, be its token as high as it may', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    await store.write('a', 'sealed', 9n);
    const behind = encodeRecord({ kind: 'write', token: 99n, id: 'behind', payload: Buffer.from('nobody was told') });
    await writeFile(join(root, 'a', 'journal.0'), Buffer.concat([seal, behind]), { flag: 'a' });

    await using other = await FencedFileStore.open({ root });
    expect(await textIn(other, 'a')).toBe('sealed');
    expect(await store.highestToken('a')).toBe(9n);
  });

  it('lower than the highest say nothing, and go', async () => {
    const root = temporaryRoot();
    const folder = join(root, 'a');
    await using store = await FencedFileStore.openWith({ root }, SMALL);
    await store.write('a', 'of the past', 1n);
    await copyFile(join(folder, 'journal.0'), join(root, 'past'));
    await addUntilNext(store, folder, 2n);
    await addUntilNext(store, folder, 3n);
    for (const ghost of ['journal.0', 'journal.1']) await copyFile(join(root, 'past'), join(folder, ghost));

    await using other = await FencedFileStore.openWith({ root }, SMALL);
    await expect(other.write('a', 'late', 1n)).rejects.toThrow(StaleFencingTokenError);
    expect(await textIn(other, 'a')).toBe('x'.repeat(100));
    expect(await readdir(folder)).toEqual(['journal.2']);
    await store.append('a', '!', 3n);
    expect(await textIn(other, 'a')).toBe(`${'x'.repeat(100)}!`);
  });

  it('are not made again by a process that was stopped before it linked one, and goes on when all is over', async () => {
    const root = temporaryRoot();
    const folder = join(root, 'a');
    await using store = await FencedFileStore.openWith({ root }, SMALL);
    await store.write('a', 'first', 1n);
    const stopped = await new Generations(folder).open();
    await stopped!.catchUp();
    await addUntilNext(store, folder, 2n);
    await addUntilNext(store, folder, 3n);

    // One that has yet to make its temporary file:
    await new Generations(folder).succeed(stopped!);
    expect(await readdir(folder)).toEqual(['journal.2']);
    // One that has made it, and looked, before generation 0 went:
    await writeFile(join(folder, 'journal.1.stopped.tmp'), 'an old state');
    await new Generations(folder).open().then((journal) => journal?.close());
    await expect(link(join(folder, 'journal.1.stopped.tmp'), join(folder, 'journal.1'))).rejects.toThrow('ENOENT');
    await stopped!.close();
  });

  it('are cleared by the next who opens, if one was stopped before it removed the lower ones', async () => {
    const root = temporaryRoot();
    const folder = join(root, 'a');
    await using store = await FencedFileStore.open({ root });
    await store.write('a', 'sealed', 9n);
    await writeFile(join(folder, 'journal.0'), seal, { flag: 'a' });
    const stopped = await new Generations(folder).open();
    await stopped!.catchUp();
    await new Generations(folder).succeed(stopped!);
    await stopped!.close();
    expect(await readdir(folder)).toEqual(['journal.0', 'journal.1']);
    for (const generation of [0, 1]) await writeFile(join(folder, `journal.${generation}.left.tmp`), 'x');

    expect(await textIn(store, 'a')).toBe('sealed');
    expect(await readdir(folder)).toEqual(['journal.1']);
  });
});

describe('a file that is being made', () => {
  it('is made once by many at the same time', async () => {
    const root = temporaryRoot();
    const stores = await Promise.all(Array.from({ length: 8 }, () => FencedFileStore.open({ root })));
    await Promise.all(stores.map((store, index) => store.append('a', `${index}\n`, 5n)));

    expect((await textIn(stores[0]!, 'a'))?.trimEnd().split('\n').sort()).toEqual([...'01234567']);
    expect(await readdir(root)).toEqual(['a']);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('leaves nothing for ever when its maker crashes', async () => {
    const root = temporaryRoot();
    for (const [name, time] of [
      ['.new-old', new Date(0)],
      ['.new-young', new Date()],
    ] as const) {
      await mkdir(join(root, name), { recursive: true });
      await writeFile(join(root, name, 'journal.0'), 'half a');
      await utimes(join(root, name), time, time);
    }
    await using store = await FencedFileStore.open({ root });

    expect(await readdir(root)).toEqual(['.new-young']);
    await store.write('.new-young', 'a file that is called so', 1n);
    expect(await textIn(store, '.new-young')).toBe('a file that is called so');
    await rm(join(root, '.new-young'), { recursive: true });
  });
});
