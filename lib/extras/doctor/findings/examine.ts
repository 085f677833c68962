import { wallNow } from '../../../lock/clock.js';
import { graphOf } from '../graph/graph-of.js';
import { type ExamineOptions, type LockExamination, lockExamination } from '../lock-examination.js';
import { ANSWER_WITHIN_MS } from '../doctor-options.js';
import type { SessionAccess } from '../../../engine/lock-service.js';
import { lookAround } from '../look/look-around.js';
import type { ListedNode } from '../look/lock-tree.js';
import { ManyReads } from '../look/many-reads.js';
import { CommandLines } from './command-lines.js';
import { costliestOf } from './costliest.js';
import { deadlocks } from './deadlocks.js';
import { abandonedKeys, longHolds, longQueues, unlabelledWaits } from './holds-and-queues.js';
import { crowdedHosts, crowdedSessions, nearlyFull } from './limits.js';
import { orphans, silentHolders, staleMarkers } from './orphans.js';
import { findSilentHolders, readMarkers } from './second-look.js';
import { foreignContenders, mixedFamilies, notReaped, strangers, unreadableNodes } from './tidiness.js';
import { worstFirst } from './weighed.js';
import type { Marks } from './zxid-clock.js';

const LONG_HOLD_MS = 300_000;
const LONG_QUEUE = 100;
/** The servers keep nodes of their own below this one. */
const OF_SERVERS = '/zookeeper';

/** Reads a part of the tree, and tells what is worth knowing of it. @param marks what earlier looks knew of the times of transactions */
export async function examine(access: SessionAccess, options: ExamineOptions, marks: Marks): Promise<LockExamination> {
  const { longHoldMs = LONG_HOLD_MS, longQueue = LONG_QUEUE, lineOptions, signal } = options;
  const { session, namespace, waitMs } = access;
  const tree = await lookAround(access, options);
  const { at, keys, unreadable } = tree;
  const reads = new ManyReads(session, namespace || '/', waitMs || ANSWER_WITHIN_MS, signal);
  const nodes = tree.nodes.filter(({ path }) => !isOfServers(path));
  const nowMs = wallNow(session.clock);
  const markers = await readMarkers(reads, nodes, namespace, nowMs);
  const silent = await findSilentHolders(reads, tree, { longHoldMs, namespace, nowMs });
  const clock = marks.clockFor(tree);
  const emptySince = ({ stat }: ListedNode): number | undefined =>
    stat.cversion === 0 ? stat.ctime : clock.latest(stat.pzxid);
  const limits = { longHoldMs, longQueue };
  const lines = new CommandLines(lineOptions);
  const findings = [
    ...deadlocks(graphOf(keys), keys, lines),
    ...abandonedKeys(keys, lines),
    ...orphans(keys, nowMs, lines),
    ...staleMarkers(markers),
    ...silentHolders(silent, lines),
    ...nearlyFull(nodes.filter(isQueue), ({ path }) => path.slice(namespace.length) || '/'),
    ...crowdedSessions(keys),
    ...crowdedHosts(keys),
    ...longHolds(keys, limits, lines),
    ...longQueues(keys, limits, lines),
    ...mixedFamilies(keys),
    ...foreignContenders(keys),
    ...strangers(
      nodes,
      tree.withOtherData.filter((path) => !isOfServers(path)),
    ),
    ...unreadableNodes(unreadable),
    ...notReaped(
      nodes.filter((node) => node.path !== tree.root && isEmpty(node)),
      emptySince,
      nowMs,
    ),
    ...unlabelledWaits(keys),
  ];
  marks.remember(tree, nowMs);
  return lockExamination({
    at: new Date(at),
    locks: keys.length,
    findings: worstFirst(findings),
    costliest: costliestOf(keys, lines),
  });
}

function isOfServers(path: string): boolean {
  return path === OF_SERVERS || path.startsWith(`${OF_SERVERS}/`);
}

/** Of a node with other nodes below it, and without contenders, the numbers mean nothing. */
function isQueue({ queue, below }: ListedNode): boolean {
  return queue.length > 0 || below.length === 0;
}

function isEmpty({ stat }: ListedNode): boolean {
  return stat.numChildren === 0 && stat.dataLength === 0 && stat.ephemeralOwner === 0n;
}
