import { Observable } from 'rxjs';
import { wallNow } from '../../lock/clock.js';
import { LockClosedError } from '../../lock/errors.js';
import { type ContenderSnapshot, type LockSnapshot, lockSnapshot } from '../../lock/snapshot.js';
import { readQueue } from '../../queue/decide.js';
import { parseRecord, toldOf, type Vanished, vanishedIn } from '../../queue/key-record.js';
import { describeContender } from '../../queue/describe-contender.js';
import type { QueueNode } from '../../queue/node-name.js';
import { contenderStates, isMoving } from '../../queue/contender-states.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { exists, get, type NodeData, remove, sync, type Watcher } from '../../session/requests.js';
import { sessionIdText } from '../../session/session-id.js';
import type { Session } from '../../session/session.js';
import type { CallScope } from '../bounds/call-scope.js';
import { detached, type Identifiers } from '../bounds/owner-context.js';
import type { HoldHistory } from '../hold/hold-parts.js';
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
 * The request that comes before the list, so that the list is fresh. `sync` asks the leader, and a leader that was cut off answers it
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

/** The key that is inspected, and where its contenders queue. */
interface Inspected {
  readonly key: string;
  readonly queuePath: string;
}

/** What was read of the nodes of a queue, by name. */
type FoundNodes = ReadonlyMap<string, NodeData | 'left'>;

interface ReadQueue {
  readonly queue: readonly QueueNode[];
  readonly found: FoundNodes;
  readonly vanished: Vanished | undefined;
}

/** Reads the queue of one key, and describes who holds and who waits. */
export async function inspectKey(
  parts: InspectParts,
  lock: Inspected,
  scope: CallScope,
  freshness: Freshness,
): Promise<LockSnapshot> {
  const { key, queuePath } = lock;
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
    if (failedWith(listed, 'NO_NODE'))
      return describe(parts, lock, { queue: [], found: new Map(), vanished: undefined });
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
    return describe(parts, lock, { queue: left, found, vanished });
  }
}

/** @returns undefined if the link went away meanwhile */
async function readNodes(
  { session }: InspectParts,
  queuePath: string,
  nodes: readonly QueueNode[],
  scope: CallScope,
): Promise<FoundNodes | undefined> {
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
  { key, queuePath }: Inspected,
  { queue: nodes, found, vanished }: ReadQueue,
): LockSnapshot {
  const holders: ContenderSnapshot[] = [];
  const queue: ContenderSnapshot[] = [];
  let queueLength = 0;
  let isHeld = false;
  for (const [node, state] of contenderStates(nodes, found)) {
    if (state === 'intent') continue;
    const holds = state === 'holds';
    if (holds) isHeld = true;
    else queueLength += 1;
    const data = found.get(node.name);
    if (data !== undefined && data !== 'left')
      (holds ? holders : queue).push(
        describeContender(
          queuePath,
          node,
          { ...data, sessionId: sessionIdText(data.stat.ephemeralOwner) },
          wallNow(session.clock),
        ),
      );
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

/**
 * Emits a snapshot of the key whenever a watch reports a change of its queue, and after each reconnect. Changes that follow
 * each other quickly may share a snapshot; the last change is always seen.
 */
export function watchKey(
  { session, link }: { readonly session: Session; readonly link: LinkState },
  queuePath: string,
  inspect: () => Promise<LockSnapshot>,
): Observable<LockSnapshot> {
  return new Observable<LockSnapshot>((subscriber) => {
    // A closed session changes its state no more, so the listener below would never complete this subscriber.
    if (session.state === 'closed') return subscriber.complete();
    let isLooking = false;
    let isStale = false;

    const watcher: Watcher = { onWatchEvent: () => changed() };
    const stopListening = link.onChange('calls', (state) => {
      if (state === 'closed') subscriber.complete();
      else if (link.isUp) changed();
    });

    function changed(): void {
      isStale = true;
      // The change may be reported in a call that has locks around it. The subscriber does not have those.
      if (!isLooking) void detached(look);
    }

    async function look(): Promise<void> {
      isLooking = true;
      try {
        while (isStale && !subscriber.closed && link.isUp) {
          isStale = false;
          const [listed] = await session.batch([listQueue(queuePath, watcher)]);
          if (subscriber.closed) return;
          // The list set no watch then. The next link brings another look in any case.
          if (listed instanceof SessionError && isAboutTheLink(listed)) isStale = true;
          if (failedWith(listed, 'NO_NODE')) {
            // The queue does not exist, so its creation is watched. If it was created since the list, it is listed again.
            const [found] = await session.batch([exists(queuePath, watcher)]);
            if (found !== undefined) isStale = true;
          }
          const snapshot = await inspect();
          if (!subscriber.closed) subscriber.next(snapshot);
        }
      } catch (error) {
        if (error instanceof LockClosedError) subscriber.complete();
        // Otherwise the link went away meanwhile, and the next one brings another look.
        else if (link.isUp) subscriber.error(error);
      } finally {
        isLooking = false;
      }
    }

    changed();
    return () => {
      stopListening();
      session.unwatch(queuePath, watcher);
    };
  });
}
