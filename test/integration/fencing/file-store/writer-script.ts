import { writeSync } from 'node:fs';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import { type Attempt, attemptLine, outcomeLine, textOf } from './diary.js';

/**
 * Changes one file until it is killed. Its diary goes to stdout. A `crowd` has several that add lines to the same file, so
 * that each is refused now and then; `alone` everything that can be done is done.
 */
const [root = '', name = '', mode = '', minJournalBytes = ''] = process.argv.slice(2);
const KINDS = ['write', 'append', 'append', 'update', 'remove', 'claim'] as const;
const STARTED = 3;

const store = await FencedFileStore.openWith({ root }, { minJournalBytes: Number(minJournalBytes) });
writeSync(STARTED, '.');
for (let number = 0; ; number += 1) {
  const attempt = next(number);
  writeSync(process.stdout.fd, attemptLine(attempt));
  attempt.outcome = await isTaken(attempt);
  writeSync(process.stdout.fd, outcomeLine(attempt));
}

function next(number: number): Attempt {
  // The clock of the machine: tokens rise for all processes, and no two are the same.
  const token = process.hrtime.bigint();
  if (mode === 'crowd') return { number, kind: number % 4 === 3 ? 'update' : 'append', token, size: number % 3 };
  const kind = KINDS[Math.floor(Math.random() * KINDS.length)]!;
  return { number, kind, token, size: Math.floor(Math.random() ** 8 * 100_000) };
}

async function isTaken(attempt: Attempt): Promise<'taken' | 'refused'> {
  try {
    await run(attempt);
    return 'taken';
  } catch (error) {
    if (error instanceof StaleFencingTokenError) return 'refused';
    throw error;
  }
}

async function run(attempt: Attempt): Promise<void> {
  const { kind, token } = attempt;
  switch (kind) {
    case 'write':
      return store.write(name, textOf(attempt), token);
    case 'append':
      return store.append(name, textOf(attempt), token);
    case 'update':
      return store.update(name, token, (content) => `${content?.toString() ?? ''}${textOf(attempt)}`);
    case 'remove':
      return store.remove(name, token);
    case 'claim':
      return store.claim(name, token);
  }
}
