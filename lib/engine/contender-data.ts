import type { LockMode } from '../lock/mode.js';
import type { ClientDescription } from '../lock/snapshot.js';
import type { ClientIdentity } from './context.js';

/** No node holds more, by the servers' own limit; an upgrade with very many readers comes near. */
const MAX_BYTES = 2 ** 20;

export interface ContenderFacts {
  readonly owner: string;
  readonly mode: LockMode;
  readonly label: string | undefined;
  readonly leaseMs: number | undefined;
  readonly lockDelayMs: number | undefined;
}

/** The part that is the same for all contenders of a client, ready to be continued: writing it anew was most of the cost. */
const beginnings = new WeakMap<ClientIdentity, string>();

/** What a contender says of itself, for people who look at the queue. Nothing is decided by it. */
export function encodeContender(client: ClientIdentity, facts: ContenderFacts): Uint8Array {
  let beginning = beginnings.get(client);
  if (beginning === undefined) {
    beginning = JSON.stringify(client).slice(0, -1);
    beginnings.set(client, beginning);
  }
  const { owner, mode, label, leaseMs, lockDelayMs } = facts;
  let text = `${beginning},"owner":"${owner}","mode":"${mode}","askedAt":${Date.now()}`;
  if (label !== undefined) text += `,"label":${JSON.stringify(label)}`;
  if (leaseMs !== undefined) text += `,"leaseMs":${leaseMs}`;
  if (lockDelayMs !== undefined) text += `,"lockDelayMs":${lockDelayMs}`;
  return Buffer.from(`${text}}`);
}

/** @returns undefined for data that is not ours */
export function decodeContender(data: Uint8Array): ClientDescription | undefined {
  const value = parseObject(data);
  if (value === undefined || typeof value.clientId !== 'string' || typeof value.owner !== 'string') return undefined;
  return {
    clientId: value.clientId,
    owner: value.owner,
    host: String(value.host),
    pid: Number(value.pid),
    label: optional(value.label, String),
    mode: String(value.mode) as LockMode,
    askedAt: Number(value.askedAt),
    leaseMs: optional(value.leaseMs, Number),
    lockDelayMs: optional(value.lockDelayMs, Number),
  };
}

/** @returns the object in the data, if there is one: others may have written anything */
export function parseObject(data: Uint8Array): Record<string, unknown> | undefined {
  if (data.length === 0 || data.length > MAX_BYTES) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function optional<T>(value: unknown, convert: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : convert(value);
}
