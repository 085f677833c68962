import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FencedFile } from '../../../../lib/fencing/file-store/fenced-file.js';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { Generations } from '../../../../lib/fencing/file-store/generations.js';
import { StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import { InterruptedGenerations } from './support/interrupted-generations.js';
import { temporaryRoot } from './support/temporary-root.js';
import { telling } from '../../../support/telling.js';

describe('a file whose folder is moved or removed while a store has it open', () => {
  let root: string;
  let folder: string;
  let aside: string;

  beforeEach(() => {
    root = temporaryRoot();
    folder = join(root, 'a');
    aside = `${root}-aside`;
  });

  async function textIn(store: FencedFileStore): Promise<string | undefined> {
    return (await store.read('a'))?.content.toString();
  }

  it('is the one that is there then: no stale token is taken for the old one, and nothing is written to it', async () => {
    await using store = await FencedFileStore.open({ root });
    await store.write('a', 'old', 5n);
    await rename(folder, aside);
    await using other = await FencedFileStore.open({ root });
    await other.write('a', 'new', 6n);

    await expect(store.append('a', ' stale', 5n)).rejects.toThrow(StaleFencingTokenError);
    await expect(store.claim('a', 5n)).rejects.toThrow(StaleFencingTokenError);
    expect(await textIn(store)).toBe('new');
    await store.append('a', ', and more', 6n);
    expect(await textIn(other)).toBe('new, and more');
  });

  it.each(['read', 'append', 'claim'] as const)('begins anew with a smaller token (%s)', async (first) => {
    await using store = await FencedFileStore.open({ root });
    await store.write('a', 'old', 5n);
    await rm(folder, { recursive: true });

    if (first === 'read') expect(await textIn(store)).toBeUndefined();
    if (first === 'append') await store.append('a', 'new', 1n);
    if (first === 'claim') await store.claim('a', 1n);
    await using other = await FencedFileStore.open({ root });
    expect(await textIn(other)).toBe(first === 'append' ? 'new' : undefined);
    expect(await other.highestToken('a')).toBe(first === 'read' ? undefined : 1n);
  });

  it.each(['moved', 'removed', 'moved, with another in its place', 'moved and sealed'])(
    'acknowledges nothing that was added while it was %s',
    async (how) => {
      await using other = await FencedFileStore.open({ root });
      await other.write('a', 'old', 5n);
      const writer = new FencedFile(
        'a',
        new InterruptedGenerations(folder, {
          after: async () => {
            await rename(folder, aside);
            if (how === 'removed') await rm(aside, { recursive: true });
            if (how === 'moved, with another in its place') await other.write('a', 'new', 6n);
            if (how !== 'moved and sealed') return;
            const moved = await new Generations(aside).open();
            await moved!.catchUp();
            await moved!.append({ kind: 'seal', token: 5n, payload: new Uint8Array() });
            await moved!.close();
          },
        }),
        1024,
      );

      const written = writer.change({ kind: 'append', token: 5n, payload: Buffer.from('!') });
      await expect(written).rejects.toThrow(telling(`${folder} was moved or removed while a was written`));
      expect(await textIn(other)).toBe(how === 'moved, with another in its place' ? 'new' : undefined);
      await writer.close();
    },
  );

  it('acknowledges what was added to a journal that is replaced at that moment: it is in the next', async () => {
    await using other = await FencedFileStore.openWith({ root }, { minJournalBytes: 512 });
    await other.write('a', 'old', 5n);
    const writer = new FencedFile(
      'a',
      new InterruptedGenerations(folder, {
        after: async () => {
          for (let times = 0; times < 10; times += 1) await other.append('a', 'x'.repeat(100), 5n);
        },
      }),
      1024 * 1024,
    );

    expect(await writer.change({ kind: 'append', token: 5n, payload: Buffer.from('!') })).toBe(true);
    expect(await textIn(other)).toBe(`old!${'x'.repeat(1_000)}`);
    await writer.close();
  });

  it('does not come back to life through somebody who replaces the journal that was moved', async () => {
    await using store = await FencedFileStore.open({ root });
    await store.write('a', 'old', 9n);
    const generations = new Generations(folder);
    const moved = await generations.open();
    await moved!.catchUp();
    await moved!.append({ kind: 'seal', token: 9n, payload: new Uint8Array() });
    await rename(folder, aside);
    await using other = await FencedFileStore.open({ root });
    await other.write('a', 'new', 1n);

    await generations.succeed(moved!);
    await moved!.close();
    await using third = await FencedFileStore.open({ root });
    expect(await textIn(third)).toBe('new');
  });
});
