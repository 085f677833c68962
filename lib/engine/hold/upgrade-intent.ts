import { parseObject } from '../../queue/node-data.js';

/** No node holds more, by the servers' own limit: with very many readers an intent comes near. */
const MAX_INTENT_BYTES = 2 ** 20;

/** What an upgrader writes into its intent once it knows which readers are inside. */
export function encodeIntent(readers: readonly string[]): Uint8Array {
  return Buffer.from(JSON.stringify({ readers }));
}

/** Whether the intent lets this reader in. Before the upgrader has written its list it lets in nobody new. */
export function namesReader(data: Uint8Array, name: string): boolean {
  const readers = parseObject(data, MAX_INTENT_BYTES)?.readers;
  return Array.isArray(readers) && readers.includes(name);
}
