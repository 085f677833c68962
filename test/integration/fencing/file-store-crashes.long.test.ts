import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../lib/fencing/file-store/fenced-file-store.js';
import { folderRemoved, removeWithUs } from '../../support/process/reaper.js';
import { compileScript, type CompiledScript } from '../../support/typescript/compiled-script.js';
import type { Attempt } from './file-store/diary.js';
import { faultsOfCrowd, type FileState, possibleStates } from './file-store/history.js';
import { Writer } from './file-store/writer.js';

const ROUNDS = 25;
const ALONE = ['solo-1', 'solo-2', 'solo-3', 'solo-4'];
const CROWD = 4;
/** A process is killed some time after it has begun some changes, two or three on the average however slow the machine is. */
const MOST_AWAITED = 5;
const LONGEST_REST_MS = 60;
const MIN_JOURNAL_BYTES = 256;

describe('200 processes killed at random points of their writing', () => {
  let folder: string;
  let root: string;
  let script: CompiledScript;
  let diaries = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'file-store-crashes-'));
    removeWithUs(folder);
    root = join(folder, 'root');
    script = await compileScript(new URL('./file-store/writer-script.ts', import.meta.url));
  });
  afterAll(async () => {
    for (const path of [folder, script.folder]) {
      await rm(path, { recursive: true, force: true });
      folderRemoved(path);
    }
  });

  async function killedWriter(name: string, mode: 'alone' | 'crowd'): Promise<Attempt[]> {
    const diary = join(folder, `diary-${(diaries += 1)}`);
    const options = { script: script.path, root, name, mode, minJournalBytes: MIN_JOURNAL_BYTES, diary };
    const writer = await Writer.start(options);
    await writer.untilAttempts(Math.round(Math.random() * MOST_AWAITED));
    await pause(Math.random() * LONGEST_REST_MS);
    return writer.kill();
  }

  async function stateOf(store: FencedFileStore, name: string): Promise<FileState> {
    const file = await store.read(name);
    return { content: file?.content.toString(), highestToken: await store.highestToken(name) };
  }

  it('leave every file whole: all that was acknowledged is there, nothing is torn, and no token goes back', async () => {
    const states = new Map<string, FileState>();
    const attempted: Attempt[] = [];
    // One has known the files all the time, the others know nothing of them.
    await using witness = await FencedFileStore.open({ root });
    for (let round = 0; round < ROUNDS; round += 1) {
      const crowd = `crowd-${round}`;
      const [alone, together] = await Promise.all([
        Promise.all(ALONE.map((name) => killedWriter(name, 'alone'))),
        Promise.all(Array.from({ length: CROWD }, () => killedWriter(crowd, 'crowd'))),
      ]);
      await using newcomer = await FencedFileStore.open({ root });
      for (const [index, name] of ALONE.entries()) {
        const before = states.get(name) ?? { content: undefined, highestToken: undefined };
        const state = await stateOf(newcomer, name);
        expect(possibleStates(before, alone[index]!)).toContainEqual(state);
        expect(await stateOf(witness, name)).toEqual(state);
        states.set(name, state);
      }
      const state = await stateOf(newcomer, crowd);
      expect(faultsOfCrowd(state, together.flat())).toEqual([]);
      expect(await stateOf(witness, crowd)).toEqual(state);
      attempted.push(...alone.flat(), ...together.flat());
    }

    expect(diaries).toBe(200);
    // What makes the test worth its time: many changes, some cut off, some refused, and journals that were replaced.
    expect(attempted.length).toBeGreaterThan(400);
    expect(attempted.filter(({ outcome }) => outcome === undefined).length).toBeGreaterThan(20);
    expect(attempted.filter(({ outcome }) => outcome === 'refused').length).toBeGreaterThan(0);
    for (const name of ALONE) {
      const [journal] = await readdir(join(root, name));
      expect(Number(journal?.split('.')[1])).toBeGreaterThan(0);
    }
  }, 180_000);
});
