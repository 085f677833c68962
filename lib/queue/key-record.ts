import {
  ABANDONED_POLICIES,
  type AbandonedFacts,
  type AbandonedLock,
  type AbandonedLockJson,
  type AbandonedPolicy,
  stricter,
  type VanishedHolder,
  type VanishedHolderJson,
} from '../lock/abandoned.js';
import { withJson } from '../lock/json.js';
import { number, parseObject, text } from './node-data.js';

/** Two checkpoints of the largest size, of the holder and of the one before it, and the rest. */
const MAX_BYTES = 32 * 1024;
const MAX_TOKEN_DIGITS = 19;
const MAX_DATE_MS = 8_640_000_000_000_000;

/** A contender that entered as a writer, as it describes itself in the record of its key. */
export interface RecordedHolder {
  /** The name of its node. */
  readonly name: string;
  readonly token: bigint;
  /** When its node was created, by the servers' clock, in milliseconds since 1970. */
  readonly since: number;
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  readonly label?: string | undefined;
  /** What those who come after it do if it vanishes. */
  readonly policy: AbandonedPolicy;
  /** How long they wait then. */
  readonly delayMs?: number | undefined;
  /** Whether somebody has waited for so long already. */
  readonly isDelayOver?: boolean | undefined;
  /** For so long after it began the key is busy. */
  readonly busyMs?: number | undefined;
  /** When its hold began, by the servers' clock; undefined: when the record was last changed. */
  readonly beganAt?: number | undefined;
  readonly checkpoint?: unknown;
}

/**
 * What outlives the contenders of a key, in the data of its node. A holder that may write leaves its name there, and takes it back in
 * the transaction that releases the lock. So a name whose node is gone is that of a holder that vanished.
 */
export interface KeyRecord {
  readonly inside?: RecordedHolder | undefined;
  /** The holder that had vanished when `inside` entered, as long as that one has not recovered what it left. */
  readonly abandoned?: RecordedHolder | undefined;
  /** The last hold with a `busyMs`: when it began, by the servers' clock. */
  readonly lastRun?: { readonly at: number; readonly busyMs: number } | undefined;
}

const NO_DATA = new Uint8Array(0);

/** A record that says nothing is no data at all: so one look at the node's size tells that there is none. */
export function encodeRecord(record: KeyRecord): Uint8Array {
  if (isEmptyRecord(record)) return NO_DATA;
  const { inside, abandoned, lastRun } = record;
  const text = JSON.stringify({ inside, abandoned, lastRun }, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return Buffer.from(text);
}

export function isEmptyRecord({ inside, abandoned, lastRun }: KeyRecord): boolean {
  return inside === undefined && abandoned === undefined && lastRun === undefined;
}

/** Anybody who may write to the node may have written it, so only members of the expected form are taken. */
export function parseRecord(data: Uint8Array): KeyRecord {
  const value = parseObject(data, MAX_BYTES);
  const lastRun = objectIn(value?.lastRun);
  const [at, busyMs] = [number(lastRun?.at), number(lastRun?.busyMs)];
  return {
    inside: holderIn(value?.inside),
    abandoned: holderIn(value?.abandoned),
    lastRun: at === undefined || busyMs === undefined ? undefined : { at, busyMs },
  };
}

function holderIn(found: unknown): RecordedHolder | undefined {
  const value = objectIn(found);
  const name = value?.name;
  const since = dateMs(value?.since);
  if (value === undefined || typeof name !== 'string' || since === undefined) return undefined;
  return {
    name,
    since,
    token: tokenIn(value.token),
    host: text(value.host),
    pid: number(value.pid),
    label: text(value.label),
    // A policy that this version does not know is one that somebody wanted to be careful with.
    policy: ABANDONED_POLICIES.find((policy) => policy === value.policy) ?? 'hold',
    delayMs: number(value.delayMs),
    isDelayOver: value.isDelayOver === true ? true : undefined,
    busyMs: number(value.busyMs),
    beganAt: number(value.beganAt),
    checkpoint: value.checkpoint,
  };
}

/** The milliseconds of a date; a `Date` reaches no further than 100 million days. */
function dateMs(value: unknown): number | undefined {
  const ms = number(value);
  return ms === undefined || Math.abs(ms) <= MAX_DATE_MS ? ms : 0;
}

function objectIn(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

function tokenIn(value: unknown): bigint {
  return typeof value === 'string' && value.length <= MAX_TOKEN_DIGITS && /^\d+$/.test(value) ? BigInt(value) : 0n;
}

/** What a contender brings to the record of its key. */
export interface Newcomer {
  readonly name: string;
  /** What its call asks for; undefined where it asks for nothing. */
  readonly policy: AbandonedPolicy | undefined;
  readonly canRecover: boolean;
  /** How long it wants to wait after a holder that vanished. */
  readonly delayMs: number;
  /** The holder that vanished, and whose delay it has waited for. */
  readonly waitedFor: string | undefined;
  /** What the servers' clock showed at some moment since its node was created, */
  readonly serverMs: number;
  /** and whether that was after the record was last changed. */
  readonly isClockNewer: boolean;
}

/** The holder that vanished, and the one that entered after it and vanished before it had recovered. */
export interface Vanished {
  readonly holder: RecordedHolder;
  readonly recoverer: RecordedHolder | undefined;
}

export type RecordVerdict =
  /** `vanished`: what the contender finds. */
  | { readonly kind: 'enters'; readonly vanished: Vanished | undefined }
  /** The last run began so short a time ago that the key is still busy, for so long. */
  | { readonly kind: 'busy'; readonly forMs: number }
  /** The servers' clock was set back behind the begin of the last run: the time counts from now on. */
  | { readonly kind: 'clock set back'; readonly lastRun: { readonly at: number; readonly busyMs: number } }
  | { readonly kind: 'delayed'; readonly holder: RecordedHolder; readonly forMs: number }
  | { readonly kind: 'closed'; readonly vanished: Vanished; readonly because: 'hold' | 'cannot recover' };

/** What keeps a contender out for some time though nobody is ahead. */
export type KeptOut = Extract<RecordVerdict, { readonly forMs: number }>;

/**
 * Applies the record to a contender that nobody is ahead of. Every other name that stands in the record is of a holder that vanished.
 * @param changedAt when the record was last changed, by the servers' clock
 */
export function decideByRecord(record: KeyRecord, changedAt: number, newcomer: Newcomer): RecordVerdict {
  const vanished = vanishedIn(record, newcomer.name);
  if (vanished !== undefined) {
    const { holder, recoverer } = vanished;
    const left = recoverer === undefined ? holder.policy : stricter(holder.policy, recoverer.policy);
    const policy = stricter(left, newcomer.policy ?? 'enter');
    if (policy === 'hold') return { kind: 'closed', vanished, because: 'hold' };
    if (policy === 'recover' && !newcomer.canRecover) return { kind: 'closed', vanished, because: 'cannot recover' };
    const last = recoverer ?? holder;
    const forMs = Math.max(last.delayMs ?? 0, newcomer.delayMs);
    if (forMs > 0 && last.isDelayOver !== true && newcomer.waitedFor !== last.name)
      return { kind: 'delayed', holder: last, forMs };
  }
  const lastRun = lastRunIn(record, changedAt, newcomer.name);
  if (lastRun !== undefined) {
    // A contender that waited is older than a run that began meanwhile: only a later look at the clock shows that it was set back.
    if (newcomer.serverMs < lastRun.at && newcomer.isClockNewer)
      return { kind: 'clock set back', lastRun: { at: newcomer.serverMs, busyMs: lastRun.busyMs } };
    const forMs = Math.min(lastRun.busyMs, lastRun.at + lastRun.busyMs - newcomer.serverMs);
    if (forMs > 0) return { kind: 'busy', forMs };
  }
  return { kind: 'enters', vanished };
}

/** The holders in the record that vanished, for a contender of this name. */
export function vanishedIn({ inside, abandoned }: KeyRecord, ownName: string): Vanished | undefined {
  if (inside === undefined || inside.name === ownName)
    return abandoned === undefined ? undefined : { holder: abandoned, recoverer: undefined };
  return abandoned === undefined ? { holder: inside, recoverer: undefined } : { holder: abandoned, recoverer: inside };
}

function lastRunIn({ inside, lastRun }: KeyRecord, changedAt: number, ownName: string): KeyRecord['lastRun'] {
  // Of a run whose holder vanished nobody could write down when it began but the servers.
  if (inside?.busyMs !== undefined && inside.name !== ownName)
    return { at: inside.beganAt ?? changedAt, busyMs: inside.busyMs };
  return lastRun;
}

/** The record without the holders that vanished. When the last run began stays. */
export function clearedRecord(record: KeyRecord, changedAt: number): KeyRecord {
  return { lastRun: lastRunIn(record, changedAt, '') };
}

/** What is told of the holders that vanished. */
export function toldOf({ holder, recoverer }: Vanished): AbandonedLock {
  const facts = { ...described(holder), recoverer: recoverer && described(recoverer) };
  return withJson<AbandonedFacts, AbandonedLockJson>(facts, () => ({
    ...inJson(described(holder)),
    recoverer: recoverer && inJson(described(recoverer)),
  }));
}

function described({ host, pid, label, token, since, checkpoint }: RecordedHolder): VanishedHolder {
  return { host, pid, label, token, since: new Date(since), checkpoint };
}

function inJson({ token, since, ...rest }: VanishedHolder): VanishedHolderJson {
  return { ...rest, token: String(token), since: since.toJSON() };
}
