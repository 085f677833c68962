import { wallNow } from '../../lock/clock.js';
import type { LockMode } from '../../lock/mode.js';
import { type ContenderSnapshot, contenderSnapshot, type LockSnapshot, lockSnapshot } from '../../lock/snapshot.js';
import { fencingToken } from '../../lock/token.js';
import { blocks, readQueue } from '../../queue/decide.js';
import { parseRecord, toldOf, type Vanished, vanishedIn } from '../../queue/key-record.js';
import { decodeContender } from '../../queue/node-data.js';
import type { QueueNode } from '../../queue/node-name.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { get, type NodeData, remove, sync } from '../../session/requests.js';
import { sessionIdText } from '../../session/session-id.js';
import type { Session } from '../../session/session.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Identifiers } from '../bounds/owner-context.js';
import type { HoldHistory } from '../hold/hold-parts.js';
import { namesReader } from '../hold/upgrade.js';
import { refusal } from '../error-texts.js';
import type { LinkState } from '../upkeep/link-state.js';
import { listQueue } from '../upkeep/key-nodes.js';

/** How many contenders of a long queue are read and described. */
const MAX_DESCRIBED = 100;
/** A year. A longer hold in a contender's data was not measured. */
const LONGEST_HOLD_MS = 365 * 24 * 3_600_000;
/** How often a queue that changes while it is read is read again. */
const MAX_LOOKS = 5;

/**
 * What comes before the list, so that the list is fresh. `sync` asks the leader, and a leader that was cut off answers it
 * for as long as it believes to lead, with an old list behind it. A write is answered only when a majority has it, so
 * everything that was written before is in the list.
 */
export type Freshness = 'behind a write' | 'behind a sync';

/** The parts of a lock service that `inspectKey` needs. */
export interface InspectParts {
  readonly session: Session;
  readonly link: LinkState;
  readonly identifiers: Identifiers;
  readonly history: HoldHistory;
}

/** Reads the queue of one key, and describes who holds and who waits. */
export async function inspectKey(
  parts: InspectParts,
  key: string,
  queuePath: string,
  scope: CallScope,
  freshness: Freshness,
): Promise<LockSnapshot> {
  // Only the answer to the write matters. It deletes a node that never exists, and is refused in the order of all writes.
  const before = freshness === 'behind a write' ? remove(`${queuePath}/${parts.identifiers.next()}`) : sync(queuePath);
  /** The last change of the parent's data that named a holder who was not in the queue. */
  let vanishedAt: bigint | undefined;
  for (let looks = 1; ; looks += 1) {
    await parts.link.whenUp(scope);
    // A session carries out its requests in order, so the list is read behind the write.
    const requests = [before, listQueue(queuePath), get(queuePath)] as const;
    const [passed, listed, parent] = await scope.guard(parts.session.batch(requests));
    if (passed instanceof SessionError && isAboutTheLink(passed)) continue;
    if (failedWith(listed, 'NO_NODE')) return describe(parts, key, queuePath, [], new Map(), undefined);
    const error = [listed, ...(before.op === 'sync' ? [passed] : [])].find(
      (outcome) => outcome instanceof SessionError,
    );
    if (error !== undefined && !isAboutTheLink(error)) throw refusal(error, key);
    if (listed instanceof SessionError || error !== undefined) continue;
    const queue = readQueue(listed.children);
    const found = await readNodes(parts, queuePath, queue.slice(0, MAX_DESCRIBED), scope);
    // If a listed holder has left, the next one may have come after the list, and the key would look free.
    if (found === undefined || (looks < MAX_LOOKS && isMoving(queue, found))) continue;
    const record = parent instanceof SessionError ? {} : parseRecord(parent.data);
    const isInside = queue.some(({ name }) => name === record.inside?.name);
    if (record.inside !== undefined && !isInside && looks < MAX_LOOKS) {
      // A holder may have come or left between the two reads, and changed the record. It has vanished only if the record is
      // the same at the next look.
      const { mzxid } = (parent as NodeData).stat;
      const isConfirmed = mzxid === vanishedAt;
      vanishedAt = mzxid;
      if (!isConfirmed) continue;
    }
    const left = queue.filter(({ name }) => found.get(name) !== 'left');
    const vanished = vanishedIn(record, isInside ? record.inside!.name : '');
    return describe(parts, key, queuePath, left, found, vanished);
  }
}

/** @returns undefined if the link went away meanwhile */
async function readNodes(
  { session }: InspectParts,
  queuePath: string,
  nodes: readonly QueueNode[],
  scope: CallScope,
): Promise<Found | undefined> {
  const outcomes = await scope.guard(session.batch(nodes.map(({ name }) => get(`${queuePath}/${name}`))));
  if (outcomes.some((outcome) => outcome instanceof SessionError && isAboutTheLink(outcome))) return undefined;
  const found = new Map<string, NodeData | 'left'>();
  outcomes.forEach((outcome, index) => {
    const { name } = nodes[index]!;
    if (!(outcome instanceof SessionError)) found.set(name, outcome);
    // A node that this client may not read is left out. It still counts in the queue.
    else if (outcome.code === 'NO_NODE') found.set(name, 'left');
  });
  return found;
}

function describe(
  { session, history }: InspectParts,
  key: string,
  queuePath: string,
  nodes: readonly QueueNode[],
  found: Found,
  vanished: Vanished | undefined,
): LockSnapshot {
  const holders: ContenderSnapshot[] = [];
  const queue: ContenderSnapshot[] = [];
  let queueLength = 0;
  let isHeld = false;
  for (const [node, standing] of standings(nodes, found)) {
    if (standing === 'intent') continue;
    const holds = standing === 'holds';
    if (holds) isHeld = true;
    else queueLength += 1;
    const data = found.get(node.name);
    if (data !== undefined && data !== 'left')
      (holds ? holders : queue).push(describeContender(queuePath, node, data, wallNow(session.clock)));
  }
  const averageMs = medianHoldMs([...holders, ...queue]) ?? history.averageMs(key);
  const elapsedMs = holders[0]?.ageMs ?? 0;
  return lockSnapshot({
    key,
    state: isHeld ? 'HELD' : vanished === undefined ? 'FREE' : 'EXPIRED',
    abandoned: vanished && toldOf(vanished),
    holders,
    queue,
    queueLength,
    waitEstimateMs: averageMs === undefined ? undefined : estimate(averageMs, queueLength, isHeld, elapsedMs),
  });
}

function describeContender(
  queuePath: string,
  { name, mode }: QueueNode,
  { stat, data }: NodeData,
  nowMs: number,
): ContenderSnapshot {
  return contenderSnapshot({
    nodePath: `${queuePath}/${name}`,
    mode,
    fencingToken: fencingToken(stat.czxid),
    sessionId: sessionIdText(stat.ephemeralOwner),
    since: new Date(stat.ctime),
    ageMs: Math.max(0, nowMs - stat.ctime),
    client: decodeContender(data),
  });
}

/** The median of the hold times in the contenders' data, which anybody may have written. */
function medianHoldMs(contenders: readonly ContenderSnapshot[]): number | undefined {
  const known = contenders
    .map(({ client }) => client?.holdMs)
    .filter((holdMs) => holdMs !== undefined && holdMs >= 0 && holdMs <= LONGEST_HOLD_MS)
    .sort((left, right) => left! - right!);
  return known[Math.floor(known.length / 2)];
}

function estimate(averageMs: number, queueLength: number, isHeld: boolean, elapsedMs: number): number {
  const restMs = isHeld ? Math.max(0, averageMs - elapsedMs) : 0;
  return Math.round(restMs + averageMs * queueLength);
}

/** What was read of the nodes of a queue, by name. A node that was listed but has gone is `left`; some were not read at all. */
export type Found = ReadonlyMap<string, NodeData | 'left'>;

/**
 * How a contender stands, as far as its queue shows.
 *
 * - `unnamed`: a reader in front of an intent that has no names yet. The upgrader will name it if it is inside.
 * - `intent`: an upgrader's second node, which is no contender of its own
 */
export type Standing = 'holds' | 'waits' | 'unnamed' | 'intent';

interface Intent {
  readonly node: QueueNode;
  readonly upgrader: QueueNode;
}

/** A contender holds if nobody ahead blocks it. The exception is a reader that an upgrader has not named. */
export function standings(queue: readonly QueueNode[], found: Found): Map<QueueNode, Standing> {
  const intents = intentsOf(queue);
  const intentNodes = new Set(intents.map(({ node }) => node));
  const ahead = new Set<LockMode>();
  const result = new Map<QueueNode, Standing>();
  for (const node of queue) {
    const isBlocked = [...ahead].some((other) => blocks(other, node.mode));
    ahead.add(node.mode);
    if (intentNodes.has(node)) result.set(node, 'intent');
    else if (isBlocked) result.set(node, 'waits');
    else result.set(node, node.mode === 'read' ? readerBefore(intents, node, found) : 'holds');
  }
  return result;
}

/** Whether the queue changed while it was read, or is about to, so that another look shows more. */
export function isMoving(queue: readonly QueueNode[], found: Found): boolean {
  return [...standings(queue, found)].some(
    ([{ name }, standing]) => standing === 'unnamed' || (standing === 'holds' && found.get(name) === 'left'),
  );
}

/** The standing of a reader that no contender's mode blocks, by the intents behind it. */
function readerBefore(intents: readonly Intent[], reader: QueueNode, found: Found): Standing {
  let standing: Standing = 'holds';
  for (const { node, upgrader } of intents) {
    // A reader in front of the upgrader is inside in any case, and one behind the intent is blocked by its mode.
    const isBetween = upgrader.sequence < reader.sequence && reader.sequence < node.sequence;
    const intent = found.get(node.name);
    if (!isBetween || intent === undefined || intent === 'left') continue;
    if (intent.data.length === 0) standing = 'unnamed';
    else if (!namesReader(intent.data, reader.name)) return 'waits';
  }
  return standing;
}

function intentsOf(queue: readonly QueueNode[]): Intent[] {
  // An intent has the id of its upgrader's contender in its name.
  const upgraders = new Map<string | undefined, QueueNode>();
  for (const node of queue) if (node.mode === 'upgradeable') upgraders.set(node.id, node);
  const intents: Intent[] = [];
  for (const node of queue) {
    const upgrader = node.mode === 'write' && node.id !== undefined ? upgraders.get(node.id) : undefined;
    if (upgrader !== undefined) intents.push({ node, upgrader });
  }
  return intents;
}
