import type { LockMode } from '../lock/mode.js';

/** One contender of a key, as its node's name describes it. */
export interface QueueNode {
  readonly name: string;
  readonly mode: LockMode;
  /** The number that the server appended, which is the place in the queue. */
  readonly sequence: number;
  /**
   * An id that the contender chose. An upgrader and its intent share one. Undefined where the name has none (zkCli,
   * kazoo).
   */
  readonly id: string | undefined;
  /** Whether this package created the node, and not another client. */
  readonly ours: boolean;
  /** Whether its contender writes into the record of the key when it enters. */
  readonly usesRecord: boolean;
}

/** The server appends ten digits. Past the counter's ceiling it appends a minus and nine or ten digits. */
const ZERO = 48;
const NINE = 57;
const MOST_DIGITS = 10;
const LEAST_DIGITS = 9;
/** At this number the counter of ZooKeeper 3.8 stops, and all later siblings get the same number. */
const SEQUENCE_CEILING = 2_147_483_647;
/** `_c_`, a UUID and a dash: Curator's mark on its nodes, by which it finds them again after a lost reply. */
const PROTECTION = /^_c_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-/;
const UUID_AT = 3;
const UUID_LENGTH = 36;
const UUID_VERSION_AT = UUID_AT + 14;
/** This package uses UUIDs of version 8 ("custom"), Curator those of version 4. The names differ in nothing else. */
const OUR_UUID_VERSION = '8';
/** The digit of a UUID whose lower two bits are free in version 8: here they say who uses the record of the key. */
const UUID_VARIANT_AT = 19;
const NO_RECORD = '8';
const USES_RECORD = 'b';

const NAME_BY_MODE: Readonly<Record<LockMode, string>> = {
  exclusive: 'lock-',
  write: '__WRIT__',
  read: '__READ__',
  upgradeable: 'upgr-__READ__',
};

/** The endings of the text in front of the number, in the order of comparison. The docs have the table of names. */
const MODE_BY_ENDING: readonly (readonly [string, LockMode])[] = [
  ['-upgr-__READ__', 'upgradeable'],
  ['lock-', 'exclusive'],
  ['__WRIT__', 'write'],
  ['__READ__', 'read'],
  ['__rlock__', 'read'],
  ['__lock__', 'exclusive'],
];

/** The characters in front of the number in every queue node's name. Names without them need not even be read. */
export const NUMBERED_AFTER = '-_';

/** @returns an id for one contender, made from a random UUID */
export function contenderId(randomUuid: string): string {
  const ours = randomUuid.slice(0, 14) + OUR_UUID_VERSION + randomUuid.slice(15);
  return ours.slice(0, UUID_VARIANT_AT) + NO_RECORD + ours.slice(UUID_VARIANT_AT + 1);
}

/**
 * The id of a contender that uses the record of its key. Everybody reads the names in a queue anyway, so those who do not use the
 * record learn by them, at no cost, that they have to look at it when their turn comes.
 */
export function recordUserId(id: string): string {
  return id.slice(0, UUID_VARIANT_AT) + USES_RECORD + id.slice(UUID_VARIANT_AT + 1);
}

/** The name to create. The server appends the number. */
export function namePrefix(mode: LockMode, id: string): string {
  return `_c_${id}-${NAME_BY_MODE[mode]}`;
}

/**
 * A node that a holder creates and removes in the transaction that releases its lock. No list ever shows it; whoever watches for it
 * is told that the contender of this name was at the head of the queue.
 */
export function releaseMark(name: string): string {
  return `${name}-released`;
}

/** @returns undefined for a name that is no queue node, such as a nested key or somebody's litter */
export function parseNodeName(name: string): QueueNode | undefined {
  const digits = digitsAtEnd(name);
  if (digits < LEAST_DIGITS) return undefined;
  const numberAt = name.length - digits;
  // The minus is tried first, because no recipe's part of a name ends in two dashes.
  const negative = name[numberAt - 1] === '-' ? nodeWithNumberAt(name, numberAt - 1) : undefined;
  return negative ?? (digits === MOST_DIGITS ? nodeWithNumberAt(name, numberAt) : undefined);
}

/**
 * The node of a contender of this process, whose name was made by `namePrefix` and has got its number from the server. What it was made
 * of need not be read out of it.
 */
export function ownNode(name: string, mode: LockMode, id: string, usesRecord: boolean): QueueNode {
  const sequence = sequenceAt(name, UUID_AT + id.length + 1 + NAME_BY_MODE[mode].length);
  return { name, mode, sequence: sequence ?? parseNodeName(name)?.sequence ?? -1, id, ours: true, usesRecord };
}

/** @returns the ten digits from there on; undefined where something else is there, such as a number past the ceiling */
function sequenceAt(name: string, numberAt: number): number | undefined {
  if (name.length !== numberAt + MOST_DIGITS) return undefined;
  // Digit by digit, as neither a part of the name nor its characters have to be made for that.
  let sequence = 0;
  for (let index = numberAt; index < name.length; index += 1) {
    const code = name.charCodeAt(index);
    if (code < ZERO || code > NINE) return undefined;
    sequence = sequence * 10 + code - ZERO;
  }
  return sequence;
}

/** Whether this number shows that the order of the queue can no longer be trusted. */
export function isSpent(sequence: number): boolean {
  return sequence < 0 || sequence >= SEQUENCE_CEILING;
}

function digitsAtEnd(name: string): number {
  let digits = 0;
  for (let index = name.length - 1; index >= 0 && digits < MOST_DIGITS; index -= 1, digits += 1) {
    const character = name.charCodeAt(index);
    if (character < ZERO || character > NINE) break;
  }
  return digits;
}

function nodeWithNumberAt(name: string, numberAt: number): QueueNode | undefined {
  const mode = endsInMode(name, numberAt);
  if (mode === undefined) return undefined;
  // The parts are cut out by position and not by a capture, because a long queue is parsed at every hand-over.
  const isProtected = PROTECTION.test(name);
  const ours = isProtected && name[UUID_VERSION_AT] === OUR_UUID_VERSION;
  return {
    name,
    mode,
    sequence: Number(name.slice(numberAt)),
    id: isProtected ? name.slice(UUID_AT, UUID_AT + UUID_LENGTH) : undefined,
    ours,
    usesRecord: ours && name[UUID_AT + UUID_VARIANT_AT] === USES_RECORD,
  };
}

function endsInMode(name: string, end: number): LockMode | undefined {
  // All endings end in one of these; most names that are looked at do not.
  if (name[end - 1] !== '-' && name[end - 1] !== '_') return undefined;
  for (const [ending, mode] of MODE_BY_ENDING) if (name.endsWith(ending, end)) return mode;
  return undefined;
}
