import { wallNow } from '../../lock/clock.js';
import type { LockMode } from '../../lock/mode.js';
import { type ContenderSnapshot, contenderSnapshot, type LockSnapshot, lockSnapshot } from '../../lock/snapshot.js';
import { fencingToken } from '../../lock/token.js';
import { blocks, readQueue } from '../../queue/decide.js';
import { decodeContender, parseRecord } from '../../queue/node-data.js';
import type { QueueNode } from '../../queue/node-name.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { get, type NodeData, remove, sync } from '../../session/requests.js';
import { sessionIdText } from '../../session/session-id.js';
import type { Session } from '../../session/session.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Identifiers } from '../bounds/owner-context.js';
import type { HoldHistory } from '../hold/hold-parts.js';
import { namesReader } from '../hold/upgrade.js';
import { refusal } from '../refusal.js';
import type { LinkState } from '../upkeep/link-state.js';
import { listQueue } from '../upkeep/queue-lists.js';

/** A queue may be long; what is read of it is not. */
const MAX_DESCRIBED = 100;
/** A year: what says more than that is no measurement. */
const LONGEST_HOLD_MS = 365 * 24 * 3_600_000;
/** At a queue that moves while it is looked at. */
const MAX_LOOKS = 5;

/**
 * What the list rests on. `sync` asks the leader, which answers for as long as it takes itself for one: a leader that was
 * cut off shows what was. A write is answered only when a majority has it, so nothing that it had before is missing.
 */
export type Freshness = 'behind a write' | 'behind a sync';

/** What a look at a key needs of the lock service. */
export interface InspectParts {
  readonly session: Session;
  readonly link: LinkState;
  readonly identifiers: Identifiers;
  readonly history: HoldHistory;
}

/** A look at one key: its queue, and who is behind each place. */
export async function inspectKey(
  parts: InspectParts,
  key: string,
  queuePath: string,
  scope: CallScope,
  freshness: Freshness,
): Promise<LockSnapshot> {
  // Of the write only the answer counts. It deletes a node that never exists, which takes its place among all writes.
  const before = freshness === 'behind a write' ? remove(`${queuePath}/${parts.identifiers.next()}`) : sync(queuePath);
  /** Which change of the parent's data left there the name of a holder that was not in the queue. */
  let vanishedAt: bigint | undefined;
  for (let looks = 1; ; looks += 1) {
    await parts.link.whenUp(scope);
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
    // When a holder has left, whoever holds now may have come after the list: it would seem to be free.
    if (found === undefined || (looks < MAX_LOOKS && isMoving(queue, found))) continue;
    const delayMs = parent instanceof SessionError ? undefined : parseRecord(parent.data)?.lockDelayMs;
    if (delayMs !== undefined && queue.length === 0 && looks < MAX_LOOKS) {
      // A holder that came or left between the two reads has not vanished: the next look finds something else there.
      const { mzxid } = (parent as NodeData).stat;
      const isConfirmed = mzxid === vanishedAt;
      vanishedAt = mzxid;
      if (!isConfirmed) continue;
    }
    const left = queue.filter(({ name }) => found.get(name) !== 'left');
    return describe(parts, key, queuePath, left, found, delayMs);
  }
}

/** @returns undefined when the link went away meanwhile */
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
  delayMs: number | undefined,
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
    state: isHeld ? 'HELD' : delayMs === undefined ? 'FREE' : 'EXPIRED',
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

/** Of what the contenders say of their processes' holds; anybody may have written it. */
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

/** What was read of the nodes of a queue, by name; of a long queue not all is. `left`: it was listed, and is gone. */
export type Found = ReadonlyMap<string, NodeData | 'left'>;

/**
 * How a contender stands, as somebody who only looks can tell.
 *
 * - `unnamed`: a reader that an upgrader names only if it is inside, and the upgrader has written no names (yet)
 * - `intent`: an upgrader's second node, no contender of its own
 */
export type Standing = 'holds' | 'waits' | 'unnamed' | 'intent';

interface Intent {
  readonly node: QueueNode;
  readonly upgrader: QueueNode;
}

/** Whoever has nobody ahead that blocks it holds, but for readers that an upgrader overlooked. */
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

/** Whether the queue changed between its list and what was read of it, or is about to, so that another look says more. */
export function isMoving(queue: readonly QueueNode[], found: Found): boolean {
  return [...standings(queue, found)].some(
    ([{ name }, standing]) => standing === 'unnamed' || (standing === 'holds' && found.get(name) === 'left'),
  );
}

function readerBefore(intents: readonly Intent[], reader: QueueNode, found: Found): Standing {
  let standing: Standing = 'holds';
  for (const { node, upgrader } of intents) {
    const isBetween = upgrader.sequence < reader.sequence && reader.sequence < node.sequence;
    const intent = found.get(node.name);
    if (!isBetween || intent === undefined || intent === 'left') continue;
    if (intent.data.length === 0) standing = 'unnamed';
    else if (!namesReader(intent.data, reader.name)) return 'waits';
  }
  return standing;
}

function intentsOf(queue: readonly QueueNode[]): Intent[] {
  const upgraders = new Map<string | undefined, QueueNode>();
  for (const node of queue) if (node.mode === 'upgradeable') upgraders.set(node.id, node);
  const intents: Intent[] = [];
  for (const node of queue) {
    const upgrader = node.mode === 'write' && node.id !== undefined ? upgraders.get(node.id) : undefined;
    if (upgrader !== undefined) intents.push({ node, upgrader });
  }
  return intents;
}
