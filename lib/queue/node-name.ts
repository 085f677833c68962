import type { LockMode } from '../lock/mode.js';

/** One contender of a key, as the name of its node tells it. */
export interface QueueNode {
  readonly name: string;
  readonly mode: LockMode;
  /** The number the server gave it: its place in the queue. */
  readonly sequence: number;
  /** Chosen by the contender; an upgrader and its intent share one. Undefined where the name has none (zkCli, kazoo). */
  readonly id: string | undefined;
  /** Whether this package made it, or a client of another make. */
  readonly ours: boolean;
}

/**
 * The number the server put at the end: ten digits, past the counter's ceiling a minus and nine or ten. The latter is
 * looked for first: no recipe's own part of the name ends in two dashes.
 */
const NUMBERS = [/-\d{9,10}$/, /\d{10}$/];
/** At this number the counter of ZooKeeper 3.8 stops, and all later siblings share it. */
const SEQUENCE_CEILING = 2_147_483_647;
/** `_c_`, a UUID and a dash: how Curator marks what it made, so that it finds it again after a lost reply. */
const PROTECTION = /^_c_([0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})-/;
/** Our ids are UUIDs of version 8 ("custom"), Curator's of version 4: the only difference between our names and theirs. */
const OUR_UUID_VERSION = '8';

const NAME_BY_MODE: Readonly<Record<LockMode, string>> = {
  exclusive: 'lock-',
  write: '__WRIT__',
  read: '__READ__',
  upgradeable: 'upgr-__READ__',
};

/** How the text in front of the number ends, in the order in which it is to be looked at. See the name table in docs. */
const MODE_BY_ENDING: readonly (readonly [string, LockMode])[] = [
  ['-upgr-__READ__', 'upgradeable'],
  ['lock-', 'exclusive'],
  ['__WRIT__', 'write'],
  ['__READ__', 'read'],
  ['__rlock__', 'read'],
  ['__lock__', 'exclusive'],
];

/** @returns an id for one contender, out of a random UUID */
export function contenderId(randomUuid: string): string {
  return randomUuid.slice(0, 14) + OUR_UUID_VERSION + randomUuid.slice(15);
}

/** The name to create: the server puts the number behind it. */
export function namePrefix(mode: LockMode, id: string): string {
  return `_c_${id}-${NAME_BY_MODE[mode]}`;
}

/** @returns undefined for what is no queue node: a nested key, somebody's litter */
export function parseNodeName(name: string): QueueNode | undefined {
  for (const number of NUMBERS) {
    const numberAt = name.search(number);
    const mode = numberAt === -1 ? undefined : endsInMode(name, numberAt);
    if (mode === undefined) continue;
    const protection = PROTECTION.exec(name);
    return {
      name,
      mode,
      sequence: Number(name.slice(numberAt)),
      id: protection?.[1],
      ours: protection?.[2] === OUR_UUID_VERSION,
    };
  }
  return undefined;
}

/** Whether the order of the queue can be trusted with this number in it. */
export function isSpent(sequence: number): boolean {
  return sequence < 0 || sequence >= SEQUENCE_CEILING;
}

function endsInMode(name: string, end: number): LockMode | undefined {
  for (const [ending, mode] of MODE_BY_ENDING) if (name.endsWith(ending, end)) return mode;
  return undefined;
}
