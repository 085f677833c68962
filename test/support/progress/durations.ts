import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const RECORDED = join(import.meta.dirname, 'durations.json');
/** A file that takes less is not worth a line: all of them together are known well enough by their number. */
const WORTH_RECORDING_MS = 2_000;
/** What such a file takes on the average. */
const OTHERS_MS = 500;

/** Seconds that test files took on two cores with nothing beside them, by their paths in the repository. */
function recorded(): Record<string, number> {
  return JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, number>;
}

/** @returns how long a test file, named by its whole path, takes as far as is known */
export function expectedDurations(): (path: string) => number {
  const seconds = recorded();
  return (path) => {
    const known = seconds[relative(ROOT, path)];
    return known === undefined ? OTHERS_MS : known * 1_000;
  };
}

/** Writes down how long these files took, by their whole paths, and forgets files that are not there any more. */
export function recordDurations(tookMs: ReadonlyMap<string, number>): void {
  const seconds = recorded();
  for (const [path, ms] of tookMs) {
    const name = relative(ROOT, path);
    if (ms < WORTH_RECORDING_MS) delete seconds[name];
    else seconds[name] = Math.round(ms / 1_000);
  }
  const there = Object.entries(seconds).filter(([name]) => existsSync(join(ROOT, name)));
  const sorted = there.sort(([left], [right]) => (left < right ? -1 : 1));
  writeFileSync(RECORDED, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}
