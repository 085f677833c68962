import { wallNow } from '../../lock/clock.js';
import { type ContenderSnapshot, contenderSnapshot, type LockSnapshot, lockSnapshot } from '../../lock/snapshot.js';
import { fencingToken } from '../../lock/token.js';
import { readQueue } from '../../queue/decide.js';
import type { QueueNode } from '../../queue/node-name.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { get, type NodeData, remove, sync } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import { sessionIdText } from '../../session/session-id.js';
import { decodeContender, parseRecord } from '../../queue/node-data.js';
import { refusal } from '../refusal.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Identifiers } from '../bounds/owner-context.js';
import { listQueue } from '../upkeep/list-queue.js';
import type { HoldHistory } from '../hold/hold-history.js';
import type { LinkState } from '../upkeep/link-state.js';
import { type Found, isMoving, standings } from './standings.js';

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
