import type { Entry } from './journal.js';

export interface Verdict {
  /** Whoever was inside together and must not have been, or entered out of turn. */
  readonly violations: readonly string[];
  /** How often the lock went from one maker to another, such as `ours > kazoo`. */
  readonly handOvers: ReadonlyMap<string, number>;
  /** How often each maker was inside, by mode, such as `ours read`. */
  readonly entries: ReadonlyMap<string, number>;
  /** The most readers that were inside together, of one or several makers. */
  readonly mostReaders: number;
}

/**
 * Judges the journal of one key, which belongs to no lock: writers are alone, readers only among readers, and everybody
 * enters in the order of the numbers the servers gave, except that readers may pass each other.
 */
export function judge(entries: readonly Entry[]): Verdict {
  const violations: string[] = [];
  const handOvers = new Map<string, number>();
  const counts = new Map<string, number>();
  const inside = new Map<string, Entry>();
  let last: Entry | undefined;
  let newestReader = -1;
  let newestWriter = -1;
  let mostReaders = 0;
  for (const entry of entries) {
    if (entry.event === 'leave') {
      if (!inside.delete(entry.name)) violations.push(`${describe(entry)} left and was not inside`);
      continue;
    }
    const isReader = entry.mode === 'read';
    for (const other of inside.values()) {
      if (!isReader || other.mode !== 'read') violations.push(`${describe(entry)} entered beside ${describe(other)}`);
    }
    const sequence = sequenceOf(entry.name);
    if (sequence <= newestWriter || (!isReader && sequence <= newestReader)) {
      violations.push(`${describe(entry)} entered after ${Math.max(newestReader, newestWriter)}: out of turn`);
    }
    if (isReader) newestReader = Math.max(newestReader, sequence);
    else newestWriter = Math.max(newestWriter, sequence);
    inside.set(entry.name, entry);
    mostReaders = Math.max(mostReaders, isReader ? inside.size : 0);
    if (last !== undefined && last.maker !== entry.maker) increase(handOvers, `${last.maker} > ${entry.maker}`);
    increase(counts, `${entry.maker} ${entry.mode}`);
    last = entry;
  }
  return { violations, handOvers, entries: counts, mostReaders };
}

/** The number at the end, read without the help of what is tested. */
function sequenceOf(name: string): number {
  const digits = /\d{10}$/.exec(name)?.[0];
  if (digits === undefined) throw new Error(`A contender without a number: ${name}`);
  return Number(digits);
}

function describe({ maker, mode, name }: Entry): string {
  return `${maker}'s ${mode} ${name}`;
}

function increase(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
