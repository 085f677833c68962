import { SessionError } from '../session/errors.js';
import { get, type NodeData } from '../session/requests.js';
import { decodeContender } from './contender-data.js';
import type { EngineContext } from './context.js';
import type { Hold } from './hold.js';
import type { Interrupt } from './interrupt.js';
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

/** For a call that did not wait, and has read nothing: what this process knows by itself. */
export function describeOwnHolder({ holders }: EngineContext, key: string, owner: string | undefined): string {
  const own = holders.all.find(({ request }) => request.key === key);
  return own === undefined ? '' : describeOwn(own, owner);
}

/** Also to be told to a call that would wait for itself. */
export function takenBy(hold: Hold): string {
  const { label } = hold.request.options;
  return `taken${label === undefined ? '' : ` by ${label}`} ${Math.round(hold.ageMs)} ms ago`;
}

function describeOwn(hold: Hold, owner: string | undefined): string {
  if (hold.request.owner === owner) return `This same call already holds it (${takenBy(hold)}): it waited for itself`;
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
