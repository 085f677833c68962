import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const INT_BYTES = 4;
const LONG_BYTES = 8;
/** In front of the counter in a node: the id of its ACL, two transactions, two times and the version of its data. */
const BEFORE_COUNTER_BYTES = 5 * LONG_BYTES + INT_BYTES;
/** A snapshot ends in the checksum of all before, and the text `/` with its length. */
const SEAL_BYTES = LONG_BYTES + INT_BYTES + 1;
/** Without these a snapshot has more behind its checksum. */
export const PLAIN_SNAPSHOTS = [
  '-Dzookeeper.digest.enabled=false',
  '-Dzookeeper.serializeLastProcessedZxid.enabled=false',
];
const ADLER_MODULUS = 65_521;

/**
 * Sets the number that the next child of a node will get, in the last snapshot of a server that does not run, and that was started with
 * `PLAIN_SNAPSHOTS`. Counting so far would take weeks.
 */
export async function setCounter(dataDir: string, path: string, counter: number): Promise<void> {
  const folder = join(dataDir, 'version-2');
  const names = (await readdir(folder)).filter((name) => name.startsWith('snapshot.'));
  names.sort((one, other) => Number.parseInt(one.slice(9), 16) - Number.parseInt(other.slice(9), 16));
  const file = join(folder, names.at(-1)!);
  const bytes = await readFile(file);
  bytes.writeInt32BE(counter, counterAt(bytes, path));
  seal(bytes);
  await writeFile(file, bytes);
}

function counterAt(bytes: Buffer, path: string): number {
  const name = Buffer.from(path);
  const length = Buffer.alloc(INT_BYTES);
  length.writeInt32BE(name.length);
  const found = bytes.indexOf(Buffer.concat([length, name]));
  if (found === -1) throw new Error(`${path} is not in the snapshot.`);
  const dataAt = found + INT_BYTES + name.length;
  // A node without data has the length -1.
  const dataBytes = Math.max(0, bytes.readInt32BE(dataAt));
  return dataAt + INT_BYTES + dataBytes + BEFORE_COUNTER_BYTES;
}

/** Writes the checksum (Adler-32) of what was changed. */
function seal(bytes: Buffer): void {
  const sealAt = bytes.length - SEAL_BYTES;
  let [low, high] = [1, 0];
  for (const byte of bytes.subarray(0, sealAt)) {
    low = (low + byte) % ADLER_MODULUS;
    high = (high + low) % ADLER_MODULUS;
  }
  bytes.writeBigInt64BE(BigInt(high * 65_536 + low), sealAt);
}
