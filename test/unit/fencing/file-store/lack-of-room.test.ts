import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { makeDirectory, Room } from '../../../../lib/fencing/file-store/disk.js';
import { type Change, FencedFile } from '../../../../lib/fencing/file-store/fenced-file.js';
import { Generations } from '../../../../lib/fencing/file-store/generations.js';
import { temporaryRoot } from './support/temporary-root.js';

const KIB = 1024;
const MIN_JOURNAL_BYTES = KIB;

/** A disk that is as full as the test says. */
class SmallDisk extends Room {
  free = Infinity;

  override async freeBytes(): Promise<number> {
    return this.free;
  }
}

describe('a file on a disk that is full', () => {
  let folder: string;
  let disk: SmallDisk;
  let file: FencedFile;
  const opened: FencedFile[] = [];

  beforeEach(async () => {
    const root = temporaryRoot();
    await makeDirectory(root);
    folder = join(root, 'a');
    disk = new SmallDisk(root);
    file = fileOn(disk);
    await file.change(write(5n, 'old'));
  });

  afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));

  function fileOn(room: Room): FencedFile {
    return fileWith(new Generations(folder, undefined, room));
  }

  function fileWith(generations: Generations): FencedFile {
    const made = new FencedFile('a', generations, MIN_JOURNAL_BYTES);
    opened.push(made);
    return made;
  }

  function write(token: bigint, text: string): Change {
    return { kind: 'write', token, payload: Buffer.from(text) };
  }

  function textOf(one: FencedFile): Promise<string | undefined> {
    return one.look(({ content }) => content?.copy().toString());
  }

  async function seal(): Promise<void> {
    const journal = await new Generations(folder).open();
    await journal!.catchUp();
    await journal!.append({ kind: 'seal', token: journal!.state.mark, payload: new Uint8Array() });
    await journal!.close();
  }

  it('is not sealed as long as there is no room for the next journal: it grows, and takes each change', async () => {
    disk.free = 64 * KIB;
    for (let times = 0; times < 5; times += 1) await file.change(write(6n, 'x'.repeat(KIB)));
    await file.change({ kind: 'remove', token: 7n, payload: new Uint8Array() });
    expect(await readdir(folder)).toEqual(['journal.0']);

    disk.free = 65 * KIB;
    await file.change(write(8n, 'new'));
    expect(await readdir(folder)).toEqual(['journal.1']);
    expect(await textOf(file)).toBe('new');
  });

  it('is what the sealed journal says, as long as no other can follow it', async () => {
    await seal();
    disk.free = 0;
    const newcomer = fileOn(disk);
    for (const one of [file, newcomer]) {
      expect(await textOf(one)).toBe('old');
      expect(await one.look(({ mark }) => mark)).toBe(5n);
      await expect(one.change(write(6n, 'new'))).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(await textOf(one)).toBe('old');
    }
    expect(await readdir(folder)).toEqual(['journal.0']);

    disk.free = Infinity;
    await file.change(write(6n, 'new'));
    expect(await textOf(newcomer)).toBe('new');
  });

  it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EFBIG'])('is also told by %s from the system', async (code) => {
    await seal();
    const reader = fileWith(new Failing(folder, code));

    expect(await textOf(reader)).toBe('old');
    await expect(reader.change(write(6n, 'new'))).rejects.toMatchObject({ code });
  });

  it('is not taken for full when something else fails', async () => {
    await seal();
    const reader = fileWith(new Failing(folder, 'EIO'));
    await expect(textOf(reader)).rejects.toMatchObject({ code: 'EIO' });
  });

  it.each([1, 3])(
    'is read, and changed, in the journal that another process found room for (%i later)',
    async (later) => {
      await textOf(file);
      const other = fileOn(new SmallDisk(folder));
      for (let times = 0; times < later; times += 1) {
        await seal();
        await other.change(write(6n, `of the other ${times}`));
      }

      disk.free = 0;
      expect(await textOf(file)).toBe(`of the other ${later - 1}`);
      await file.change(write(7n, 'small'));
      expect(await textOf(other)).toBe('small');
      await other.close();
    },
  );

  it('gets nothing of a large record that would be cut off, and small ones as long as they fit', async () => {
    disk.free = 100 * KIB;
    const sizeBefore = await sizeOfJournal();
    await expect(file.change(write(6n, 'x'.repeat(100 * KIB)))).rejects.toThrow(
      /^No room for 10\d{4} bytes in .*: 102400 are free on its disk\. Nothing was written\. Make room/,
    );
    expect(await sizeOfJournal()).toBe(sizeBefore);
    expect(await file.look(({ mark }) => mark)).toBe(5n);

    disk.free = 0;
    await file.change(write(6n, 'x'));
    expect(await textOf(file)).toBe('x');
  });

  async function sizeOfJournal(): Promise<number> {
    const journal = await new Generations(folder).open();
    await journal!.catchUp();
    await journal!.close();
    return journal!.size;
  }
});

class Failing extends Generations {
  constructor(
    folder: string,
    private readonly code: string,
  ) {
    super(folder);
  }

  override async succeed(): Promise<void> {
    throw Object.assign(new Error(this.code), { code: this.code });
  }
}
