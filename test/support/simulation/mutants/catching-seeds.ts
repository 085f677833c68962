import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const RECORDED = join(import.meta.dirname, 'catching-seeds.json');
/** An earlier seed is reached sooner than it is looked up. */
const WORTH_RECORDING = 10;

/** @returns by the names of mutants, the first seed that catches one, as far as it takes some time to get there */
export function catchingSeeds(): Readonly<Record<string, number>> {
  return JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, number>;
}

/** Writes down that this seed was the first to catch a mutant. */
export function recordCatchingSeed(name: string, seed: number): void {
  const seeds = new Map(Object.entries(catchingSeeds()));
  if (seed < WORTH_RECORDING) seeds.delete(name);
  else seeds.set(name, seed);
  const sorted = [...seeds].sort(([left], [right]) => (left < right ? -1 : 1));
  writeFileSync(RECORDED, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}
