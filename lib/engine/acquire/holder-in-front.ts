import type { QueueNode } from '../../queue/node-name.js';
import { SessionError } from '../../session/errors.js';
import { get, type NodeData } from '../../session/requests.js';
import { decodeContender } from './contender-data.js';
import type { EngineContext } from '../context.js';
import type { Hold } from '../hold/hold.js';
import type { Interrupt } from '../bounds/interrupt.js';
import type { LockRequest } from './place.js';

/** Of the whole wait, for the answer to who holds the lock. At most so long, and so much of it. */
const LOOKS_BEFORE_END_MS = 100;
const LOOKS_BEFORE_END_PART = 0.1;

/**
 * Finds out who holds the lock, shortly before a wait for it times out: one read, of the node at the head of the queue, and none
 * for who does not wait so long. The error does not wait for its answer.
 * @returns how to let it be
 */
export function lookBeforeEnd(
  context: EngineContext,
  request: LockRequest,
  headName: string,
  interrupt: Interrupt,
): () => void {
  const { clock, alarms, session, uplink } = context;
  const path = `${request.queuePath}/${headName}`;
  const leftMs = interrupt.endsAt - clock.now();
  const at = interrupt.endsAt - Math.min(LOOKS_BEFORE_END_MS, leftMs * LOOKS_BEFORE_END_PART);
  let isOver = false;
  const alarm = alarms.set(at, () => {
    if (!uplink.isUp) return;
    void session.batch([get(path)]).then(([found]) => {
      if (!isOver && !(found instanceof SessionError)) sawHolder(context, request, path, found, interrupt);
    });
  });
  return () => {
    isOver = true;
    alarm.cancel();
  };
}

/** Keeps for the error of a time-out who stands at the head of the queue: nobody is ahead of it, so it holds. */
export function sawHolder(
  context: EngineContext,
  request: LockRequest,
  path: string,
  node: NodeData,
  interrupt: Interrupt,
): void {
  interrupt.describeHolder = () => {
    const own = context.holders.all.find(({ place }) => place.path === path);
    return own === undefined ? describeOther(path, node) : describeOwn(own, request.owner);
  };
}

/**
 * For a call that did not wait, and reads nothing for this: what the names say, and this process knows by itself.
 * @param blocking those in its way, as it saw them; none where the doorway is closed, or a lock-delay runs
 */
export function describeBlocking(
  { holders, doorway }: EngineContext,
  { key, queuePath, owner, mode }: LockRequest,
  blocking: readonly QueueNode[],
): string | undefined {
  const [first] = blocking;
  if (first === undefined) {
    const inside = doorway?.inTheWay(key, mode);
    return inside === undefined ? undefined : describeOwn(inside, owner);
  }
  // By the id, which the intent of a lock that was upgraded shares with it.
  const own = holders.all.find(
    ({ place, request }) => request.queuePath === queuePath && blocking.some(({ id }) => id === place.id),
  );
  if (own !== undefined) return describeOwn(own, owner);
  return `Others hold it, or are ahead in the queue (${first.name} is the first of them): inspect(key) says who`;
}

/** Also to be told to a call that would wait for itself. */
export function takenBy(hold: Hold): string {
  const { label } = hold.request.options;
  return `taken${label === undefined ? '' : ` by ${label}`} ${Math.round(hold.ageMs)} ms ago`;
}

function describeOwn(hold: Hold, owner: string | undefined): string {
  // Calls side by side in one lock have the same owner: this one may be about to give it back.
  if (hold.request.owner === owner) {
    return `A call inside the same lock holds it (${takenBy(hold)}): if that one waits for this one, it waits for itself`;
  }
  return (
    `This process itself holds it (${takenBy(hold)}). Where that was the same flow of calls, it waited for itself: hand its ` +
    'handle on, or use withLock, whose lock is shared with what runs inside'
  );
}

function describeOther(path: string, { data, stat }: NodeData): string {
  const client = decodeContender(data);
  const since = new Date(stat.ctime).toISOString();
  if (client === undefined) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return `It is held by another kind of client (${name}, session 0x${stat.ephemeralOwner.toString(16)}), in the queue since ${since}`;
  }
  const { label, host = 'an unknown host', pid } = client;
  const process = pid === undefined ? host : `${host} (pid ${pid})`;
  return `It is held by ${label === undefined ? '' : `${label} on `}${process}, in the queue since ${since}`;
}
