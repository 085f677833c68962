import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Change, FencedFile } from '../../../../lib/fencing/file-store/fenced-file.js';
import { Generations } from '../../../../lib/fencing/file-store/generations.js';
import { StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import { makeDirectory } from '../../../../lib/fencing/file-store/disk.js';
import { InterruptedGenerations } from './support/interrupted-generations.js';
import { temporaryRoot } from './support/temporary-root.js';
import { telling } from '../../../support/telling.js';

const LARGE = 1024 * 1024;
const NOTHING = new Uint8Array();

function change(kind: Change['kind'], token: bigint, text = ''): Change {
  return { kind, token, payload: Buffer.from(text) };
}

describe('a file that somebody else changes between the look and the write', () => {
  let folder: string;
  let other: FencedFile;

  beforeEach(async () => {
    const root = temporaryRoot();
    await makeDirectory(root);
    folder = join(root, 'a');
    other = new FencedFile('a', new Generations(folder), LARGE);
    await other.change(change('write', 5n, 'old'));
  });

  function textOf(file: FencedFile): Promise<string | undefined> {
    return file.look(({ content }) => content?.copy().toString());
  }

  function interrupted(interrupt: () => Promise<void>): FencedFile {
    return new FencedFile('a', new InterruptedGenerations(folder, { before: interrupt }), LARGE);
  }

  async function seal(): Promise<void> {
    const journal = await new Generations(folder).open();
    await journal!.catchUp();
    await journal!.append({ kind: 'seal', token: journal!.state.mark, payload: NOTHING });
    await journal!.close();
  }

  it('refuses the one that was stopped, although all was well when it looked', async () => {
    const stopped = interrupted(async () => void (await other.change(change('write', 6n, 'new'))));

    const late = stopped.change(change('write', 5n, 'late'));
    await expect(late).rejects.toThrow(StaleFencingTokenError);
    await expect(late).rejects.toThrow(telling('a has seen the fencing token 6, so 5 comes too late'));
    expect(await textOf(other)).toBe('new');
    expect(await textOf(stopped)).toBe('new');
    await stopped.close();
    await other.close();
  });

  it('takes the write of the newer one, whoever of them came first', async () => {
    const newer = interrupted(async () => void (await other.change(change('append', 5n, ', older'))));

    expect(await newer.change(change('append', 6n, ', newer'))).toBe(true);
    expect(await textOf(other)).toBe('old, older, newer');
    await newer.close();
    await other.close();
  });

  it.each([1, 2, 5])('takes the write once, in the next journal, when %i are sealed under its hands', async (times) => {
    let left = times;
    const writer = interrupted(async () => (left-- > 0 ? seal() : undefined));

    expect(await writer.change(change('append', 5n, '!'))).toBe(true);
    expect(await textOf(other)).toBe('old!');
    expect(await readdir(folder)).toEqual([`journal.${times}`]);
    await writer.close();
    await other.close();
  });

  it('knows an update that was made for the content of before, also when the journal was replaced meanwhile', async () => {
    const seen = await other.look(({ lastChange }) => lastChange);
    let left = 1;
    const writer = interrupted(async () => (left-- > 0 ? seal() : undefined));
    expect(await writer.change({ ...change('write', 5n, 'for what was there'), onlyAfter: seen })).toBe(true);

    expect(await writer.change({ ...change('write', 9n, 'for what is gone'), onlyAfter: seen })).toBe(false);
    expect(await textOf(other)).toBe('for what was there');
    expect(await other.look(({ mark }) => mark)).toBe(5n);
    await writer.close();
    await other.close();
  });
});
