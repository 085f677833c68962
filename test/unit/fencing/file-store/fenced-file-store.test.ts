import { readdir, readlink } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { LockClosedError, LockConfigurationError, StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import { temporaryRoot } from './support/temporary-root.js';
import { telling } from '../../../support/telling.js';

async function textIn(store: FencedFileStore, name: string): Promise<string | undefined> {
  return (await store.read(name))?.content.toString();
}

describe('a FencedFileStore', () => {
  it('writes, appends, reads and removes', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    expect(await store.read('notes')).toBeUndefined();
    expect(await store.highestToken('notes')).toBeUndefined();

    await store.write('notes', 'one\n', 9n);
    await store.append('notes', Buffer.from('two\\\n'), 9n);
    await store.append('notes', 'three', '10');
    expect(await store.read('notes')).toEqual({ content: Buffer.from('one\ntwo\\\nthree'), fencingToken: 10n });

    await store.remove('notes', 11n);
    expect(await store.read('notes')).toBeUndefined();
    expect(await store.highestToken('notes')).toBe(11n);
    await store.append('notes', 'new', 11n);
    expect(await textIn(store, 'notes')).toBe('new');
  });

  it('tells nothing apart from an empty file', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    await store.write('empty', '', 1n);

    expect(await store.read('empty')).toEqual({ content: Buffer.alloc(0), fencingToken: 1n });
  });

  it('leaves nothing behind for a file that is only read', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    await store.read('never');

    expect(await readdir(root)).toEqual([]);
  });

  it('gives out copies, and takes them', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    const bytes = Buffer.from('abc');
    const writing = store.write('a', bytes, 1n);
    bytes.fill(0);
    await writing;
    (await store.read('a'))?.content.fill(0);
    expect(await textIn(store, 'a')).toBe('abc');

    await store.append('a', 'def', 1n);
    (await store.read('a'))?.content.fill(0);
    expect(await textIn(store, 'a')).toBe('abcdef');
  });

  it('keeps the order of what one process asks for', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    const lines = Array.from({ length: 40 }, (_, index) => `${index}\n`);
    await Promise.all(lines.map((line) => store.append('a', line, 1n)));

    expect(await textIn(store, 'a')).toBe(lines.join(''));
  });

  it('has any number of files, of which few are open', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.openWith({ root }, { maxOpenFiles: 3 });
    const names = Array.from({ length: 20 }, (_, index) => `file-${index}`);
    await Promise.all(names.map((name) => store.append(name, name, 1n)));
    await Promise.all(names.map((name) => store.append(name, '!', 1n)));

    expect(await Promise.all(names.map((name) => textIn(store, name)))).toEqual(names.map((name) => `${name}!`));
    expect((await openFilesIn(root)).length).toBeLessThanOrEqual(3);
    await store.close();
    expect(await openFilesIn(root)).toEqual([]);
  });

  it('does nothing after its end', async () => {
    const root = temporaryRoot();
    const store = await FencedFileStore.open({ root });
    const underWay = Promise.all([store.write('a', 'x', 1n), store.append('a', 'y', 1n)]);
    await store.close();
    await store.close();

    await expect(store.read('a')).rejects.toThrow(LockClosedError);
    await expect(store.write('a', 'z', 2n)).rejects.toThrow(LockClosedError);
    await underWay;
    await using again = await FencedFileStore.open({ root });
    expect(await textIn(again, 'a')).toBe('xy');
  });
});

describe('content', () => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 7],
    ['Object', { a: 1 }],
    ['Array', [1, 2]],
    ['Uint16Array', new Uint16Array([1, 300])],
    ['ArrayBuffer', new ArrayBuffer(3)],
  ])('is text or bytes, not %s', async (kind, given) => {
    const content = given as string;
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    await store.write('a', 'old', 1n);

    await expect(store.write('a', content, 2n)).rejects.toThrow(LockConfigurationError);
    await expect(store.append('a', content, 2n)).rejects.toThrow(telling(`a: what was given is ${kind}, and must be`));
    expect(await store.highestToken('a')).toBe(1n);
    const updating = store.update('a', 2n, () => content);
    await expect(updating).rejects.toThrow(LockConfigurationError);
    await expect(updating).rejects.toThrow(
      telling(`a: what the function of update() returned is ${kind}, and must be`),
    );
    expect(await textIn(store, 'a')).toBe('old');
  });
});

describe('a file', () => {
  const LARGEST = 16 * 1024 * 1024;

  it('has 16 MiB at most, as each record is made and read in one go: more is refused, and changes nothing', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    await store.write('a', 'small', 1n);
    const tooLarge = 'line\n'.repeat(LARGEST / 5 + 1);
    const refusals = [
      store.write('a', tooLarge, 2n),
      store.write('a', Buffer.alloc(LARGEST + 1), 2n),
      store.append('a', 'x'.repeat(LARGEST - 4), 2n),
      store.append('a', 'é'.repeat(LARGEST / 2 + 1), 2n),
    ];
    for (const refused of refusals) {
      await expect(refused).rejects.toThrow(
        telling(/^a would have 1677\d{4} bytes; FencedFileStore takes 16777216 at most/),
      );
    }
    expect(await store.read('a')).toEqual({ content: Buffer.from('small'), fencingToken: 1n });
    await expect(store.update('a', 2n, () => tooLarge)).rejects.toThrow(telling('takes 16777216 at most'));

    const largest = Buffer.alloc(LARGEST, 'a line\n');
    await store.write('a', largest, 3n);
    await using again = await FencedFileStore.open({ root });
    expect((await again.read('a'))?.content.equals(largest)).toBe(true);
  });
});

describe('the options of a FencedFileStore', () => {
  it.each<[string, object]>([
    [
      'key: is not an option (the options are: root, trustFileSystem, fileMode, folderMode, onDamage, keys, lockKey)',
      { key: {} },
    ],
    ['lockkey: is not an option', { lockkey: () => '' }],
    ['root: must be', { root: undefined }],
    ['root: must be', { root: '' }],
    ['keys: must be', { keys: [] }],
    ['lockKey: must be', { lockKey: '/locks/a' }],
    ['trustFileSystem: must be', { trustFileSystem: 'yes' }],
    ['fileMode: must be', { fileMode: '0600' }],
    ['fileMode: must be', { fileMode: 0o400 }],
    ['fileMode: must be', { fileMode: 0o1600 }],
    ['folderMode: must be', { folderMode: 0o600 }],
    ['folderMode: must be', { folderMode: -1 }],
    ['onDamage: must be a function', { onDamage: 'log' }],
  ])('are refused where they are wrong: %s', async (reason, wrong) => {
    const opening = FencedFileStore.open({ root: temporaryRoot(), ...wrong });
    await expect(opening).rejects.toThrow(LockConfigurationError);
    await expect(opening).rejects.toThrow(`FencedFileStore: ${reason}`);
  });
});

describe('update()', () => {
  it('makes the new content of the one that is there', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    await store.update('count', 5n, (content) => String(content === undefined ? 1 : 'wrong'));
    await store.update('count', 6n, async (content) => String(Number(content) + 1));

    expect(await store.read('count')).toEqual({ content: Buffer.from('2'), fencingToken: 6n });
  });

  it('loses none of many that run under one token', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    const addOne = (): Promise<void> => store.update('count', 5n, (content) => String(Number(content ?? 0) + 1));
    await Promise.all([addOne(), addOne(), addOne(), addOne(), addOne()]);

    expect(await textIn(store, 'count')).toBe('5');
  });

  it('is refused when a newer holder comes in while the function runs', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    await using other = await FencedFileStore.open({ root });
    await store.write('a', 'old', 5n);

    const updating = store.update('a', 6n, async () => {
      await other.write('a', 'new', 7n);
      return 'late';
    });
    await expect(updating).rejects.toThrow(StaleFencingTokenError);
    expect(await textIn(store, 'a')).toBe('new');
  });

  it('writes nothing when the function throws, and can read the same file meanwhile', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    await store.write('a', 'old', 5n);

    const updating = store.update('a', 6n, async () => {
      throw new Error(`not with ${await textIn(store, 'a')}`);
    });
    await expect(updating).rejects.toThrow('not with old');
    expect(await textIn(store, 'a')).toBe('old');
    expect(await store.highestToken('a')).toBe(6n);
  });

  it('gives up when the function itself changes the file each time', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    const updating = store.update('a', 6n, async () => {
      await store.append('a', '.', 6n);
      return 'never';
    });
    await expect(updating).rejects.toThrow(
      telling('Does the function that makes the new content write to it as well?'),
    );
  });
});

/** What this process has open below a folder, by the list of Linux. */
async function openFilesIn(folder: string): Promise<string[]> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((path) => path.startsWith(`${folder}/`));
}
