import { readdir, readlink } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { temporaryRoot } from './support/temporary-root.js';

describe('an update', () => {
  let root: string;
  beforeEach(() => {
    root = temporaryRoot();
  });

  /** What the function of an update was called with, when this happened during the first call. */
  async function seenBy(
    between: (store: FencedFileStore) => Promise<void>,
    before?: string,
    minJournalBytes = 1024 * 1024,
  ): Promise<{ seen: (string | undefined)[]; content: string | undefined }> {
    await using store = await FencedFileStore.openWith({ root }, { minJournalBytes });
    await using other = await FencedFileStore.openWith({ root }, { minJournalBytes });
    if (before !== undefined) await store.write('a', before, 5n);
    const seen: (string | undefined)[] = [];
    await store.update('a', 5n, async (content) => {
      seen.push(content?.toString());
      if (seen.length === 1) await between(other);
      return `${content?.toString() ?? 'nothing'}, updated`;
    });
    return { seen, content: (await store.read('a'))?.content.toString() };
  }

  it('does not bring back what was removed in between', async () => {
    const outcome = await seenBy((other) => other.remove('a', 5n), 'old');
    expect(outcome).toEqual({ seen: ['old', undefined], content: 'nothing, updated' });
  });

  it('does not bring back what was removed where the journal was replaced meanwhile, too', async () => {
    const removeAndReplace = async (other: FencedFileStore): Promise<void> => {
      await other.remove('a', 5n);
      for (let times = 0; times < 20; times += 1) await other.claim('a', 5n);
      for (let times = 0; times < 10; times += 1) await other.remove('a', 5n);
    };
    const outcome = await seenBy(removeAndReplace, 'old', 512);
    expect(outcome).toEqual({ seen: ['old', undefined], content: 'nothing, updated' });
    expect(await readdir(`${root}/a`)).not.toContain('journal.0');
  });

  it.each<[string, string | undefined, (other: FencedFileStore) => Promise<void>, string | undefined]>([
    ['an append', 'old', (other) => other.append('a', '!', 5n), 'old!'],
    ['a write', 'old', (other) => other.write('a', 'new', 5n), 'new'],
    ['a write of the same bytes', 'old', (other) => other.write('a', 'old', 5n), 'old'],
    ['a write of a new file', undefined, (other) => other.write('a', 'new', 5n), 'new'],
    ['an append to a new file', undefined, (other) => other.append('a', 'new', 5n), 'new'],
  ])('begins again after %s in between', async (_, before, between, after) => {
    const outcome = await seenBy(between, before);
    expect(outcome).toEqual({ seen: [before, after], content: `${after}, updated` });
  });

  it('begins again after a file was removed and made anew with what it had', async () => {
    const outcome = await seenBy(async (other) => {
      await other.remove('a', 5n);
      await other.write('a', 'old', 5n);
    }, 'old');
    expect(outcome).toEqual({ seen: ['old', 'old'], content: 'old, updated' });
  });

  it('goes on after a claim, which changes nothing', async () => {
    const outcome = await seenBy((other) => other.claim('a', 5n), 'old');
    expect(outcome).toEqual({ seen: ['old'], content: 'old, updated' });
  });
});

describe('close()', () => {
  it('waits for an update whose function is still at it, and leaves no file open', async () => {
    const root = temporaryRoot();
    const store = await FencedFileStore.open({ root });
    await store.write('a', 'old', 5n);
    let goOn!: (content: string) => void;
    let onCalled!: () => void;
    const called = new Promise<void>((resolve) => (onCalled = resolve));
    const order: string[] = [];
    const updating = store
      .update('a', 6n, () => {
        onCalled();
        return new Promise((resolve) => (goOn = resolve));
      })
      .then(() => order.push('updated'));
    await called;
    const closing = store.close().then(() => order.push('closed'));
    const closingAgain = store.close().then(() => order.push('closed again'));
    await expect(store.read('a')).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
    // Whoever closes without waiting is done by then: this goes to the disk and back as often as a close does, and more.
    for (let times = 0; times < 20; times += 1) await readdir(root);
    expect(order).toEqual([]);
    goOn('new');
    await Promise.all([updating, closing, closingAgain]);
    expect(order[0]).toBe('updated');
    expect(await openFilesIn(root)).toEqual([]);
    await using again = await FencedFileStore.open({ root });
    expect(await again.read('a')).toEqual({ content: Buffer.from('new'), fencingToken: 6n });
  });

  it('waits for one that fails, and is no failure itself', async () => {
    const root = temporaryRoot();
    const store = await FencedFileStore.open({ root });
    const mine = new Error('mine');
    const updating = store.update('a', 6n, () => Promise.reject(mine));
    await Promise.all([store.close(), expect(updating).rejects.toBe(mine)]);
    expect(await openFilesIn(root)).toEqual([]);
  });
});

/** What this process has open below a folder, by the list of Linux. */
async function openFilesIn(folder: string): Promise<string[]> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((path) => path.startsWith(`${folder}/`));
}
