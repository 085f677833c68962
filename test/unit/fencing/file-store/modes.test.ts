import { chmod, mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import type { FencedFileStoreOptions } from '../../../../lib/fencing/file-store/options.js';
import { temporaryRoot } from './support/temporary-root.js';

const NOBODY = 65_534;

/** What is called by its digest, so that its folder has a file more. */
const LONG_NAME = 'x'.repeat(300);

/** The modes of all that is below a folder, and its own: those of folders, and those of files. */
async function modesIn(folder: string): Promise<{ folders: Set<string>; files: Set<string> }> {
  const modes = { folders: new Set<string>(), files: new Set<string>() };
  for (const name of ['.', ...(await readdir(folder, { recursive: true }))]) {
    const found = await stat(join(folder, name));
    (found.isDirectory() ? modes.folders : modes.files).add((found.mode & 0o7777).toString(8));
  }
  return modes;
}

/** All ways in which a file comes to be: the first journal, its successor, the name. */
async function fill(options: FencedFileStoreOptions): Promise<void> {
  await using store = await FencedFileStore.openWith(options, { minJournalBytes: 100 });
  for (const name of ['a', LONG_NAME]) {
    for (let times = 0; times < 4; times += 1) await store.write(name, 'x'.repeat(100), 1n);
  }
}

describe('what a FencedFileStore makes', () => {
  let umask: number;
  beforeEach(() => {
    umask = process.umask(0o022);
  });
  afterEach(() => {
    process.umask(umask);
  });

  it.each([0o000, 0o022])('is for its own user alone, with the umask %i', async (mask) => {
    process.umask(mask);
    const root = temporaryRoot();
    await fill({ root: join(root, 'inner') });
    expect(await modesIn(root)).toEqual({ folders: new Set(['700']), files: new Set(['600']) });
    expect(await readdir(join(root, 'inner', 'a'))).not.toContain('journal.0');
  });

  it('is for others where that was asked for, whatever the umask is', async () => {
    const root = temporaryRoot();
    await fill({ root, fileMode: 0o660, folderMode: 0o2770 });
    expect(await modesIn(root)).toEqual({ folders: new Set(['2770']), files: new Set(['660']) });
  });

  it('leaves a root alone that is there', async () => {
    const root = temporaryRoot();
    await mkdir(root);
    await chmod(root, 0o755);
    await fill({ root });
    expect(((await stat(root)).mode & 0o777).toString(8)).toBe('755');
  });

  it('leaves what another user has left behind in a shared root to that user', async () => {
    const root = temporaryRoot();
    const left = join(root, '.new-left-behind');
    await mkdir(left, { recursive: true });
    await writeFile(join(left, 'journal.0'), '');
    await utimes(left, 0, 0);
    await chmod(left, 0o000);
    await Promise.all([root, dirname(root)].map((folder) => chmod(folder, 0o777)));
    // Nothing is closed to root.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      await using store = await FencedFileStore.open({ root, folderMode: 0o2770 });
      expect(await store.names()).toEqual([]);
    } finally {
      if (isRoot) process.seteuid?.(0);
      await chmod(left, 0o700);
    }
  });
});
