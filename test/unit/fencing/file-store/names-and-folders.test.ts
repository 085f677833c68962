import { mkdir, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { InvalidLockKeyError, LockConfigurationError, StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import { telling } from '../../../support/telling.js';
import { temporaryRoot } from './support/temporary-root.js';

async function textIn(store: FencedFileStore, name: string): Promise<string | undefined> {
  return (await store.read(name))?.content.toString();
}

describe('the names of files', () => {
  it.each(['../x', '.', '..', 'a/b', '/etc/escape', '..\\x', '.new-x', 'x'.repeat(255)])(
    'lead to a folder in the root: %j',
    async (name) => {
      const root = join(temporaryRoot(), 'inner');
      await using store = await FencedFileStore.open({ root });
      await store.write(name, 'text', 1n);

      expect(await textIn(store, name)).toBe('text');
      expect(await readdir(dirname(root))).toEqual(['inner']);
      const [folder, ...others] = await readdir(root);
      expect(others).toEqual([]);
      expect(await readdir(join(root, folder!))).toEqual(['journal.0']);
    },
  );

  it.each<[string, unknown]>([
    ['nothing', ''],
    ['4097 bytes', 'x'.repeat(4097)],
    ['half a character', 'a\ud800'],
    ['a NUL', 'a\0b'],
    ['undefined', undefined],
    ['a number', 42],
  ])('are refused where they are none: %s', async (_what, given) => {
    const name = given as string;
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });

    await expect(store.write(name, 'text', 1n)).rejects.toThrow(InvalidLockKeyError);
    await expect(store.append(name, 'text', 1n)).rejects.toThrow(InvalidLockKeyError);
    await expect(store.update(name, 1n, () => 'text')).rejects.toThrow(InvalidLockKeyError);
    await expect(store.claim(name, 1n)).rejects.toThrow(InvalidLockKeyError);
    await expect(store.remove(name, 1n)).rejects.toThrow(InvalidLockKeyError);
    await expect(store.highestToken(name)).rejects.toThrow(InvalidLockKeyError);
    await expect(store.read(name)).rejects.toMatchObject({ status: 400 });
    expect(await readdir(root)).toEqual([]);
  });

  it.each([
    ['Cyrillic, encoded twice', `/locks/documents/${encodeURIComponent('Ж'.repeat(23))}`],
    ['capitals', 'A'.repeat(86)],
    ['4 KiB', '😀'.repeat(1024)],
  ])('may be long: %s', async (_what, name) => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.openWith({ root }, { minJournalBytes: 300 });
    await store.write(name, 'text', 5n);
    for (let times = 0; times < 5; times += 1) await store.write(name, 'x'.repeat(100), 6n);

    await using other = await FencedFileStore.open({ root });
    expect(await textIn(other, name)).toBe('x'.repeat(100));
    await expect(other.write(name, 'late', 5n)).rejects.toThrow(StaleFencingTokenError);
    const [folder] = await readdir(root);
    expect((await readdir(join(root, folder!))).sort()).toEqual([expect.stringMatching(/^journal\.[1-9]/), 'name']);
    expect(await readFile(join(root, folder!, 'name'), 'utf8')).toBe(name);
    expect(await other.names()).toEqual([name]);
  });

  it('are told, also of what was removed or only claimed, and nothing else that is in the root', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    const names = ['a', '/B/c', 'Ж', 'Ж'.repeat(99), 'removed', 'claimed'];
    for (const name of names) await store.claim(name, 1n);
    await store.remove('removed', 1n);
    for (const name of ['lost+found', '.new-x']) await mkdir(join(root, name));

    expect((await store.names()).sort()).toEqual(names.sort());
  });

  it('do not lead out through a link, be it that of the folder or of the journal', async () => {
    const [root, outside] = [temporaryRoot(), temporaryRoot()];
    await using elsewhere = await FencedFileStore.open({ root: outside });
    await elsewhere.write('a', 'secret', 1n);
    await using store = await FencedFileStore.open({ root });
    await symlink(join(outside, 'a'), join(root, 'a'));
    await mkdir(join(root, 'b'));
    await symlink(join(outside, 'a', 'journal.0'), join(root, 'b', 'journal.0'));

    await expect(store.read('a')).rejects.toThrow(telling('It was not followed'));
    await expect(store.write('a', 'harm', 9n)).rejects.toThrow(LockConfigurationError);
    await expect(store.write('b', 'harm', 9n)).rejects.toMatchObject({ code: 'ELOOP' });
    expect(await textIn(elsewhere, 'a')).toBe('secret');
  });
});

describe('a folder that is not as the store left it', () => {
  it('is taken for none when it is empty', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    await mkdir(join(root, 'a'));

    expect(await store.read('a')).toBeUndefined();
    await mkdir(join(root, 'a'), { recursive: true });
    await store.write('a', 'x', 1n);
    expect(await textIn(store, 'a')).toBe('x');
  });

  it('is refused when it has other things in it, and no journal', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    await mkdir(join(root, 'a'));
    await writeFile(join(root, 'a', 'journal'), 'x');

    await expect(store.read('a')).rejects.toThrow(telling('no journal'));
    await expect(store.write('a', 'x', 1n)).rejects.toThrow(LockConfigurationError);
  });

  it.each([
    ['is empty', 0],
    ['is torn', 20],
  ])('is refused when the beginning of the journal %s: a token could be forgotten', async (_what, length) => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    await store.write('a', 'x', 9n);
    await store.close();
    const rest = (await readFile(join(root, 'a', 'journal.0'))).subarray(60);
    await truncate(join(root, 'a', 'journal.0'), length);
    await writeFile(join(root, 'a', 'journal.0'), rest, { flag: 'a' });

    await using again = await FencedFileStore.open({ root });
    await expect(again.read('a')).rejects.toThrow(telling('is damaged'));
    await expect(again.write('a', 'y', 1n)).rejects.toThrow(LockConfigurationError);
  });
});
