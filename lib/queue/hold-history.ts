import { LOCK_MODES } from '../lock/mode.js';
import { type HoldEnd, HOLD_ENDS, type PastHoldFacts } from '../lock/past-hold.js';
import { number, parseObject, text } from './node-data.js';
import { HISTORY_ROOT } from './reserved-names.js';

/** The holds of all keys share so many nodes, so what is kept does not grow with the number of keys. A power of two. */
const NODES = 128;
/** Each node has at most this much, and so has each write. */
export const MAX_HISTORY_BYTES = 16 * 1024;
const MAX_TOKEN_DIGITS = 19;
const MAX_DATE_MS = 8_640_000_000_000_000;

/** A hold that has ended, and its key. */
export interface KeptHold extends PastHoldFacts {
  readonly key: string;
}

/** What one node has. */
export interface KeptHistory {
  /** In the order in which they were written. */
  readonly holds: readonly KeptHold[];
  /** How many holds were not kept, because they could not be written in time. */
  readonly dropped: number;
}

/** Below this node are those of `historyPath`. */
export function historyRoot(namespace: string): string {
  return `${namespace}/${HISTORY_ROOT}`;
}

/** The node that has the past holds of a key, beside those of other keys. */
export function historyPath(namespace: string, key: string): string {
  // FNV-1a, which spreads texts well enough that differ in their ends.
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  const bucket = (hash ^ (hash >>> 15)) & (NODES - 1);
  return `${historyRoot(namespace)}/${bucket.toString(16).padStart(2, '0')}`;
}

/**
 * Adds holds to those of a node: of each key that got one, the last ones stay. Where it is too much for the node, the oldest go,
 * whatever their key. A hold that is there already stays as it is: the answer to its first write was lost.
 */
export function withHolds(known: KeptHistory, added: KeptHistory, keep: number): KeptHistory {
  const isKnown = new Set(known.holds.map(nameOf));
  const fresh = added.holds.filter((hold) => !isKnown.has(nameOf(hold)));
  const grown = new Set(fresh.map(({ key }) => key));
  const counts = new Map<string, number>();
  const newestFirst = [...known.holds, ...fresh].reverse().filter(({ key }) => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= keep || !grown.has(key);
  });
  return { holds: fitting(newestFirst).reverse(), dropped: known.dropped + added.dropped };
}

function nameOf({ key, token }: KeptHold): string {
  return `${token} ${key}`;
}

/** As many of the first as fit into a node. */
function fitting(holds: readonly KeptHold[]): KeptHold[] {
  let bytes = Buffer.byteLength('{"dropped":9007199254740991,"holds":[]}');
  const index = holds.findIndex((hold) => (bytes += Buffer.byteLength(encoded(hold)) + 1) > MAX_HISTORY_BYTES);
  return index === -1 ? [...holds] : holds.slice(0, index);
}

export function encodeHistory({ holds, dropped }: KeptHistory): Uint8Array {
  return Buffer.from(`{"dropped":${dropped},"holds":[${holds.map(encoded).join(',')}]}`);
}

function encoded(hold: KeptHold): string {
  return JSON.stringify({ ...hold, token: String(hold.token), since: hold.since.getTime() });
}

/** Anybody who may write to the node may have written it, so only what has the expected form is taken. */
export function decodeHistory(data: Uint8Array): KeptHistory {
  const value = parseObject(data, 2 * MAX_HISTORY_BYTES);
  const holds = Array.isArray(value?.holds) ? value.holds.flatMap(holdIn) : [];
  const dropped = number(value?.dropped);
  return { holds, dropped: dropped !== undefined && Number.isSafeInteger(dropped) && dropped > 0 ? dropped : 0 };
}

function holdIn(found: unknown): KeptHold[] {
  const value = (typeof found === 'object' && found !== null ? found : {}) as Readonly<Record<string, unknown>>;
  const { key } = value;
  const token = tokenIn(value.token);
  const mode = LOCK_MODES.find((one) => one === value.mode);
  const ended = HOLD_ENDS.find((end): end is HoldEnd => end === value.ended);
  const [since, waitedMs, heldMs] = [number(value.since), number(value.waitedMs), number(value.heldMs)];
  if (typeof key !== 'string' || token === undefined || mode === undefined || ended === undefined) return [];
  if (since === undefined || Math.abs(since) > MAX_DATE_MS || waitedMs === undefined || heldMs === undefined) return [];
  const who = { label: text(value.label), host: text(value.host), pid: number(value.pid) };
  return [{ key, token, mode, ...who, since: new Date(since), waitedMs, heldMs, ended }];
}

function tokenIn(value: unknown): bigint | undefined {
  const isToken = typeof value === 'string' && value.length <= MAX_TOKEN_DIGITS && /^[0-9]+$/.test(value);
  return isToken ? BigInt(value) : undefined;
}
