import type { SessionAccess } from '../../../engine/lock-service.js';
import { wallNow } from '../../../lock/clock.js';
import { isEmptyRecord } from '../../../queue/key-record.js';
import type { SessionError } from '../../../session/errors.js';
import { refusal } from '../../../session/patient-link.js';
import { ANSWER_WITHIN_MS } from '../doctor-options.js';
import type { ScanOptions } from '../lock-scan.js';
import { type ListedNode, readTree } from './lock-tree.js';
import { ManyReads } from './many-reads.js';
import { readKeys } from './read-keys.js';
import { type SeenKey, seenKey } from './seen-key.js';

/** A part of the tree, as it was found. */
export interface SeenTree {
  /** The path of the prefix. */
  readonly root: string;
  /** When the reading began, in milliseconds since 1970, by the wall clock of this process. */
  readonly at: number;
  /** The keys with contenders, or with a record that closes them, in the order of their names. */
  readonly keys: readonly SeenKey[];
  /** All nodes but those of contenders. */
  readonly nodes: readonly ListedNode[];
  /** The paths of those whose data is none of this package's, and that have no contenders. */
  readonly withOtherData: readonly string[];
  /** The errors of nodes that could not be listed. */
  readonly unreadable: readonly SessionError[];
}

/**
 * Reads all locks below a prefix.
 * @throws LockConfigurationError where the prefix itself may not be read
 */
export async function lookAround(
  { session, namespace, waitMs, queuePathOf }: SessionAccess,
  { prefix = '/', signal, onProgress }: ScanOptions,
): Promise<SeenTree> {
  const root = prefix === '/' ? namespace || '/' : queuePathOf(prefix);
  const reads = new ManyReads(session, root, waitMs || ANSWER_WITHIN_MS, signal);
  const at = wallNow(session.clock);
  let [nodesRead, locks] = [0, 0];
  const progress = (nodes: number): void => onProgress?.({ nodes: (nodesRead += nodes), locks });
  await reads.catchUp();
  const { nodes, unreadable } = await readTree(reads, root, progress);
  const refused = unreadable.find(({ path }) => path === root);
  if (refused !== undefined) throw refusal(refused, prefix);
  const candidates = nodes.filter(({ path, queue, stat }) => path !== (namespace || '/') && mayBeKey(queue, stat));
  const keys: SeenKey[] = [];
  const withOtherData: string[] = [];
  await readKeys(reads, candidates, (some, count) => {
    const nowMs = wallNow(session.clock);
    for (const { listed, ...read } of some) {
      const seen = seenKey(listed.path.slice(namespace.length), listed, read, nowMs);
      if (seen.contenders.length > 0 || seen.vanished !== undefined) keys.push(seen);
      else if (listed.stat.dataLength > 0 && isEmptyRecord(read.record)) withOtherData.push(listed.path);
    }
    locks = keys.length;
    progress(count);
  });
  keys.sort((one, other) => (one.key < other.key ? -1 : 1));
  return { root, at, keys, nodes, withOtherData, unreadable };
}

/** A key without contenders may still have a record. */
function mayBeKey(queue: ListedNode['queue'], { dataLength }: ListedNode['stat']): boolean {
  return queue.length > 0 || dataLength > 0;
}
