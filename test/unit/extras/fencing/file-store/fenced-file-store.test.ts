import { mkdir, readdir, readFile, readlink, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../../../lib/extras/fencing/file-store/fenced-file-store.js';
import {
  InvalidLockKeyError,
  LockClosedError,
  LockConfigurationError,
  StaleFencingTokenError,
} from '../../../../../lib/lock/errors.js';
import { createLockService } from '../../../../../lib/open.js';
import { temporaryRoot } from './support/temporary-root.js';

const HIGHEST = 2n ** 63n - 1n;

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
    await expect(late()).rejects.toThrow('a has seen the fencing token 10, so 9 comes too late');

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
    await expect(store.write('a', 'y', HIGHEST + 1n)).rejects.toThrow('Not a fencing token');
    await expect(store.write('a', 'y', 0n)).rejects.toThrow('Not a fencing token');
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
    await expect(store.claim('a', reader)).rejects.toThrow('/locks/a is held as read');
    await expect(store.update('a', reader, () => 'x')).rejects.toThrow('/locks/a is held as read');
    expect(await readFile(join(root, 'a', 'journal.0'))).toEqual(before);
    await store.append('a', ', more', token);
    expect(await textIn(store, 'a')).toBe('text, more');
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
    await expect(store.append('a', content, 2n)).rejects.toThrow(`a: what was given is ${kind}, and must be`);
    expect(await store.highestToken('a')).toBe(1n);
    const updating = store.update('a', 2n, () => content);
    await expect(updating).rejects.toThrow(LockConfigurationError);
    await expect(updating).rejects.toThrow(`a: what the function of update() returned is ${kind}, and must be`);
    expect(await textIn(store, 'a')).toBe('old');
  });
});

describe('the options of a FencedFileStore', () => {
  it.each<[string, object]>([
    ['key: is no option (there are: root, trustFileSystem, keys, lockKey)', { key: {} }],
    ['lockkey: is no option', { lockkey: () => '' }],
    ['root: must be', { root: undefined }],
    ['root: must be', { root: '' }],
    ['keys: must be', { keys: [] }],
    ['lockKey: must be', { lockKey: '/locks/a' }],
    ['trustFileSystem: must be', { trustFileSystem: 'yes' }],
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
    await expect(updating).rejects.toThrow('Does the function that makes the new content write to the same file?');
  });
});

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

    await expect(store.read('a')).rejects.toThrow('It was not followed');
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

    await expect(store.read('a')).rejects.toThrow('no journal');
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
    await expect(again.read('a')).rejects.toThrow('is damaged');
    await expect(again.write('a', 'y', 1n)).rejects.toThrow(LockConfigurationError);
  });
});

/** What this process has open below a folder, by the list of Linux. */
async function openFilesIn(folder: string): Promise<string[]> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((path) => path.startsWith(`${folder}/`));
}
