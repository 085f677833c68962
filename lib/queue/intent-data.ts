import { parseObject } from './node-data.js';

/** The servers let no node hold more. With very many readers an intent comes near this. */
const MAX_INTENT_BYTES = 2 ** 20;

/**
 * The data of an intent: the readers that were inside when it was placed. Without these names, a reader whose writer in
 * front gives up would enter beside the upgrader.
 */
export function encodeIntent(readers: readonly string[]): Uint8Array {
  return Buffer.from(JSON.stringify({ readers }));
}

/**
 * Whether a write node of ours is an upgrader's second one: any other says whose it is.
 * @param dataLength of the node, which may have data that this client may not read
 */
export function isIntentData(data: Uint8Array, dataLength: number): boolean {
  return dataLength === 0 || Array.isArray(parseObject(data, MAX_INTENT_BYTES)?.readers);
}

/** Whether the intent lets this reader in. An intent without names lets nobody in. */
export function namesReader(data: Uint8Array, name: string): boolean {
  const readers = parseObject(data, MAX_INTENT_BYTES)?.readers;
  return Array.isArray(readers) && readers.includes(name);
}
