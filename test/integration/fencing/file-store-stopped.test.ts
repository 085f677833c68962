import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../lib/fencing/file-store/fenced-file-store.js';
import { within } from '../../support/process/eventually.js';
import { folderRemoved, removeWithUs } from '../../support/process/reaper.js';
import { compileScript } from '../../support/typescript/compiled-script.js';
import { type Attempt, textOf } from './file-store/diary.js';
import { faultsOfCrowd } from './file-store/history.js';
import { Writer } from './file-store/writer.js';

const ROUNDS = 20;
const CHANGES = 6;
const LONGEST_RUN_MS = 30;
const MIN_JOURNAL_BYTES = 512;
/** What no machine needs for a change, and a stopped process would make it take for ever. */
const HELD_UP_MS = 10_000;

describe('a writer that is stopped in the middle of what it does, again and again', () => {
  it('holds nobody up, and nothing that was acknowledged to anybody is lost', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'file-store-stopped-'));
    removeWithUs(folder);
    const root = join(folder, 'root');
    const script = await compileScript(new URL('./file-store/writer-script.ts', import.meta.url));
    const limits = { minJournalBytes: MIN_JOURNAL_BYTES };
    const options = { script: script.path, root, name: 'a', mode: 'crowd', diary: join(folder, 'diary') } as const;
    const writer = await Writer.start({ ...options, ...limits });
    await using store = await FencedFileStore.openWith({ root }, limits);
    const ours: Attempt[] = [];
    let cutShort = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      await pause(Math.random() * LONGEST_RUN_MS);
      const done = await writer.stop();
      if (done.at(-1)?.outcome === undefined) cutShort += 1;
      // Somebody who knows the file, and somebody who has yet to open it.
      await using newcomer = await FencedFileStore.openWith({ root }, limits);
      for (let number = 0; number < CHANGES; number += 1) {
        const attempt: Attempt = { number, kind: 'append', token: process.hrtime.bigint(), size: 1, outcome: 'taken' };
        const one = number % 2 === 0 ? store : newcomer;
        await within(HELD_UP_MS, 'a change by another', one.append('a', textOf(attempt), attempt.token));
        ours.push(attempt);
      }
      expect((await within(HELD_UP_MS, 'a look', newcomer.read('a')))?.fencingToken).toBe(ours.at(-1)!.token);
      await writer.resume();
    }
    const theirs = await writer.kill();

    const file = await store.read('a');
    const state = { content: file?.content.toString(), highestToken: await store.highestToken('a') };
    expect(faultsOfCrowd(state, [...ours, ...theirs])).toEqual([]);
    // What makes the test worth its time.
    expect(cutShort).toBeGreaterThan(ROUNDS / 4);
    expect(theirs.filter(({ outcome }) => outcome === 'taken').length).toBeGreaterThan(0);
    for (const path of [folder, script.folder]) {
      await rm(path, { recursive: true, force: true });
      folderRemoved(path);
    }
  }, 60_000);
});
