import { parseObject } from './contender-data.js';

/** What the data of a key's node remember: the holder that may write, or the last one, if it vanished. */
export interface HolderRecord {
  readonly nodeName: string;
  /** How long the next holder is to wait for one that vanished. */
  readonly lockDelayMs: number;
}

export function encodeRecord(record: HolderRecord): Uint8Array {
  return Buffer.from(JSON.stringify(record));
}

/** @returns undefined where nobody is remembered; anybody may have written the data */
export function parseRecord(data: Uint8Array): HolderRecord | undefined {
  const value = parseObject(data);
  if (typeof value?.nodeName !== 'string' || !Number.isFinite(value.lockDelayMs)) return undefined;
  return { nodeName: value.nodeName, lockDelayMs: Number(value.lockDelayMs) };
}
