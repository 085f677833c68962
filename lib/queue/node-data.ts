import { LOCK_MODES, type LockMode } from '../lock/mode.js';
import type { ClientDescription } from '../lock/snapshot.js';
import { isTraceparent } from '../lock/traceparent.js';

/** The longest label and the longest template with every character escaped take a fifth of this. */
const MAX_BYTES = 16 * 1024;
/** Longer than any host name, and than any label that this package writes. */
const MAX_SHOWN_LENGTH = 255;

/** A lock service as its contenders describe it to others. */
export interface ClientIdentity {
  readonly clientId: string;
  readonly host: string;
  readonly pid: number;
}

export interface ContenderFacts {
  readonly owner: string;
  readonly mode: LockMode;
  readonly label: string | undefined;
  readonly template: string | undefined;
  readonly leaseMs: number | undefined;
  readonly lockDelayMs: number | undefined;
  readonly holdMs: number | undefined;
  /** The span in which the call was made, for those that trace what they wait for. */
  readonly traceparent?: string | undefined;
}

/**
 * The part of the text that is the same for all contenders of a client. Writing it anew each time was most of the cost.
 */
const beginnings = new WeakMap<ClientIdentity, string>();

/** Describes a contender for people who look at the queue. Nothing is decided by it. */
export function encodeContender(client: ClientIdentity, facts: ContenderFacts, askedAt = Date.now()): string {
  let beginning = beginnings.get(client);
  if (beginning === undefined) {
    beginning = JSON.stringify(client).slice(0, -1);
    beginnings.set(client, beginning);
  }
  const { owner, mode, label, template, leaseMs, lockDelayMs, holdMs, traceparent } = facts;
  let text = `${beginning},"owner":"${owner}","mode":"${mode}","askedAt":${askedAt}`;
  if (label !== undefined) text += `,"label":${JSON.stringify(label)}`;
  if (template !== undefined) text += `,"template":${JSON.stringify(template)}`;
  if (leaseMs !== undefined) text += `,"leaseMs":${leaseMs}`;
  if (lockDelayMs !== undefined) text += `,"lockDelayMs":${lockDelayMs}`;
  if (holdMs !== undefined) text += `,"holdMs":${Math.round(holdMs)}`;
  // A subscriber of the application has set it, perhaps to something else.
  if (isTraceparent(traceparent)) text += `,"traceparent":"${traceparent}"`;
  return `${text}}`;
}

/**
 * Reads what a contender says about itself. Anybody who may write to the queue may have written it, so only members of
 * the expected form are taken.
 * @returns undefined for data that this package did not write
 */
export function decodeContender(data: Uint8Array): ClientDescription | undefined {
  const value = parseObject(data);
  const clientId = text(value?.clientId);
  const owner = text(value?.owner);
  if (value === undefined || clientId === undefined || owner === undefined) return undefined;
  return {
    clientId,
    owner,
    host: text(value.host),
    pid: number(value.pid),
    label: text(value.label),
    template: text(value.template),
    mode: LOCK_MODES.find((mode) => mode === value.mode),
    askedAt: date(value.askedAt),
    leaseMs: number(value.leaseMs),
    lockDelayMs: number(value.lockDelayMs),
    holdMs: number(value.holdMs),
  };
}

/**
 * The span in which the call behind a contender was made, as its node says.
 * @returns undefined where it says nothing, or something else
 */
export function traceparentOf(data: Uint8Array): string | undefined {
  const traceparent = parseObject(data)?.traceparent;
  return isTraceparent(traceparent) ? traceparent : undefined;
}

/** @returns the object in the data, if there is one; others may have written anything, of any size and depth */
export function parseObject(data: Uint8Array, maxBytes = MAX_BYTES): Record<string, unknown> | undefined {
  if (data.length === 0 || data.length > maxBytes) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // The parser throws a SyntaxError, or a RangeError where the nesting is too deep for its stack.
    return undefined;
  }
}

/** A text for people. `String(value)` would call a conversion that the JSON itself may have brought along. */
export function text(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return value.length <= MAX_SHOWN_LENGTH ? value : `${value.slice(0, MAX_SHOWN_LENGTH)}…`;
}

/** The date of a number of milliseconds since 1970; a `Date` reaches no further than 100 million days. */
function date(value: unknown): Date | undefined {
  const read = new Date(number(value) ?? Number.NaN);
  return Number.isNaN(read.getTime()) ? undefined : read;
}

/** A finite number. JSON can say `1e999`, which is read as Infinity. */
export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
