import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';

/** Writes more than the system lets it, and goes on. */
const [root = ''] = process.argv.slice(2);
const outcomes: string[] = [];

async function attempt(operation: () => Promise<void>): Promise<void> {
  try {
    await operation();
    outcomes.push('done');
  } catch (error) {
    outcomes.push(String(error));
  }
}

await using store = await FencedFileStore.open({ root });
await attempt(() => store.write('a', 'fits', 1n));
await attempt(() => store.append('a', 'x'.repeat(100_000), 2n));
await attempt(() => store.append('a', 'no room is left', 3n));
outcomes.push(String((await store.read('a'))?.content), String(await store.highestToken('a')));
process.stdout.write(JSON.stringify(outcomes));
