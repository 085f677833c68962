import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import { temporaryRoot } from './support/temporary-root.js';

const STORES = 4;
const ATTEMPTS = 60;

/** Stores of one process share no state: to each other they are what other processes are. */
async function race<T>(
  root: string,
  run: (store: FencedFileStore, index: number) => Promise<T>,
  minJournalBytes = 512,
): Promise<T[]> {
  const stores = await Promise.all(
    Array.from({ length: STORES }, () => FencedFileStore.openWith({ root }, { minJournalBytes })),
  );
  try {
    return await Promise.all(stores.map(run));
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

/** Whether it was acknowledged; anything but a refusal is an error of the test. */
async function wasTaken(operation: Promise<void>): Promise<boolean> {
  try {
    await operation;
    return true;
  } catch (error) {
    if (error instanceof StaleFencingTokenError) return false;
    throw error;
  }
}

describe('stores that race for one file, while its journal is replaced again and again', () => {
  it('have every acknowledged line, once, and none that was refused, in the order of the tokens', async () => {
    const root = temporaryRoot();
    let token = 1n;
    const taken: string[] = [];
    await race(root, async (store, index) => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        // Each third one is somebody whose lock is over.
        const shown = attempt % 3 === 2 ? token - 1n : ++token;
        const line = `${shown} of ${index}, ${attempt}`;
        if (shown > 0n && (await wasTaken(store.append('a', `${line}\n`, shown)))) taken.push(line);
      }
    });

    await using store = await FencedFileStore.open({ root });
    const lines = (await store.read('a'))?.content.toString().trimEnd().split('\n') ?? [];
    expect([...lines].sort()).toEqual([...taken].sort());
    const tokens = lines.map((line) => Number.parseInt(line, 10));
    expect(tokens).toEqual([...tokens].sort((one, another) => one - another));
    expect(tokens.length).toBeGreaterThan(ATTEMPTS / 2);
    expect(tokens.length).toBeLessThan(STORES * ATTEMPTS);
    expect(await readdir(join(root, 'a'))).toHaveLength(1);
  });

  it('count to the last one with update(), under one token and under many', async () => {
    const root = temporaryRoot();
    let token = 1n;
    const counts = await race(root, async (store) => {
      let taken = 0;
      for (let attempt = 0; attempt < ATTEMPTS / 2; attempt += 1) {
        const shown = attempt % 2 === 0 ? token : ++token;
        const isTaken = await wasTaken(store.update('a', shown, (content) => String(Number(content ?? 0) + 1)));
        if (isTaken) taken += 1;
      }
      return taken;
    });

    await using store = await FencedFileStore.open({ root });
    const sum = counts.reduce((one, another) => one + another);
    expect(sum).toBeGreaterThan(0);
    expect(String((await store.read('a'))?.content)).toBe(String(sum));
  });

  it('see what was acknowledged to another before they asked', async () => {
    const root = temporaryRoot();
    let acknowledged = 0;
    await race(root, async (store, index) => {
      for (let attempt = 1; attempt <= ATTEMPTS * 2; attempt += 1) {
        if (index === 0) {
          await store.write('a', String(attempt), BigInt(attempt));
          acknowledged = attempt;
          continue;
        }
        const before = acknowledged;
        const file = await store.read('a');
        const highest = await store.highestToken('a');
        expect(Number(file?.content ?? 0)).toBeGreaterThanOrEqual(before);
        expect(highest ?? 0n).toBeGreaterThanOrEqual(file?.fencingToken ?? 0n);
      }
    });
  });
});
