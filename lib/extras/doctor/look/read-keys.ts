import { parseRecord } from '../../../queue/key-record.js';
import { isMoving } from '../../../queue/contender-states.js';
import { SessionError } from '../../../session/errors.js';
import { exists, get, list, type NodeData } from '../../../session/requests.js';
import { type ListedNode, listedNode } from './lock-tree.js';
import type { ManyReads } from './many-reads.js';
import type { ReadKey } from './seen-key.js';

/** At most this many keys are read together. With more of them, the first would have changed before the last one is read. */
const KEYS_AT_ONCE = 200;
/** A queue that changes while it is read is read at most this many times. */
const MAX_LOOKS = 5;
const NO_DATA = new Uint8Array(0);

/** A key with what was read of it. */
export interface LookedAt extends ReadKey {
  readonly listed: ListedNode;
}

/** A key whose reading is under way. */
interface Look {
  readonly listed: ListedNode;
  /** The last change of the key's data that named a holder who was not in the queue. */
  readonly vanishedAt?: bigint | undefined;
}

/**
 * Reads the contenders of listed keys, and their records. A queue that changes meanwhile is listed and read again; after some tries
 * what was found last counts. A key whose node has vanished is left out.
 * @param onRead told what was read since the last time, and of how many nodes
 */
export async function readKeys(
  reads: ManyReads,
  keys: readonly ListedNode[],
  onRead: (read: readonly LookedAt[], nodes: number) => void,
): Promise<void> {
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    let nodes = 0;
    const some = await readSome(reads, keys.slice(from, from + KEYS_AT_ONCE), (count) => (nodes += count));
    onRead(some, nodes);
  }
}

async function readSome(
  reads: ManyReads,
  keys: readonly ListedNode[],
  onNodes: (count: number) => void,
): Promise<LookedAt[]> {
  const done: LookedAt[] = [];
  let looks: readonly Look[] = keys.map((listed) => ({ listed }));
  for (let count = 1; looks.length > 0; count += 1) {
    const again: Look[] = [];
    for (const { look, read, recordAt } of await readOnce(reads, looks, onNodes)) {
      const { queue } = look.listed;
      const { inside } = read.record;
      const isVanished = inside !== undefined && !queue.some(({ name }) => name === inside.name);
      // Between the list and the read of the record a holder may have come or left, and changed it. It has vanished only if the
      // record is the same at the next look.
      const isConfirmed = !isVanished || look.vanishedAt === recordAt;
      if (count < MAX_LOOKS && (!isConfirmed || isMoving(queue, read.found)))
        again.push({ listed: look.listed, vanishedAt: isVanished ? recordAt : undefined });
      else done.push(read);
    }
    looks = await listAgain(reads, again);
  }
  return done;
}

interface ReadOnce {
  readonly look: Look;
  readonly read: LookedAt;
  /** The last change of the key's data. */
  readonly recordAt: bigint | undefined;
}

async function readOnce(
  reads: ManyReads,
  looks: readonly Look[],
  onNodes: (count: number) => void,
): Promise<ReadOnce[]> {
  const paths = looks.flatMap(({ listed }) => {
    const contenders = listed.queue.map(({ name }) => `${listed.path}/${name}`);
    return listed.stat.dataLength > 0 ? [listed.path, ...contenders] : contenders;
  });
  const found = await readNodes(reads, paths, onNodes);
  return looks.map((look) => {
    const { listed } = look;
    const parent = found.get(listed.path);
    const node = parent === 'left' ? undefined : parent;
    const record = node === undefined ? {} : parseRecord(node.data);
    const ofQueue = new Map<string, NodeData | 'left'>();
    for (const { name } of listed.queue) {
      const read = found.get(`${listed.path}/${name}`);
      if (read !== undefined) ofQueue.set(name, read);
    }
    return { look, read: { listed, found: ofQueue, record }, recordAt: node?.stat.mzxid };
  });
}

/** Reads nodes; of those whose data this client may not read at least what the servers tell to everybody. */
async function readNodes(
  reads: ManyReads,
  paths: readonly string[],
  onNodes: (count: number) => void,
): Promise<Map<string, NodeData | 'left'>> {
  const found = new Map<string, NodeData | 'left'>();
  const refused: string[] = [];
  const outcomes = await reads.answers(
    paths.map((path) => get(path)),
    onNodes,
  );
  outcomes.forEach((outcome, index) => {
    const path = paths[index]!;
    if (!(outcome instanceof SessionError)) found.set(path, outcome);
    else if (outcome.code === 'NO_NODE') found.set(path, 'left');
    else refused.push(path);
  });
  const stats = await reads.answers(refused.map((path) => exists(path)));
  stats.forEach((stat, index) => {
    if (!(stat instanceof SessionError))
      found.set(refused[index]!, stat === undefined ? 'left' : { stat, data: NO_DATA });
  });
  return found;
}

async function listAgain(reads: ManyReads, looks: readonly Look[]): Promise<Look[]> {
  const outcomes = await reads.answers(looks.map(({ listed }) => list(listed.path)));
  return looks.flatMap(({ listed, vanishedAt }, index) => {
    const outcome = outcomes[index]!;
    // The contenders have left, and their key with them.
    if (outcome instanceof SessionError) return [];
    return [{ listed: listedNode(listed.path, outcome.stat, outcome.children), vanishedAt }];
  });
}
