import type { NodeData } from '../../session/requests.js';
import { decodeContender } from '../../queue/node-data.js';
import type { Hold } from './hold.js';

/** Somebody else's contender, which is at the head of the queue: nobody is ahead of it, so it holds the lock. */
export function describeOther(path: string, { data, stat }: NodeData): string {
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

/** @param owner the logical caller that waits for it */
export function describeOwn(hold: Hold, owner: string | undefined): string {
  // Calls side by side in one lock have the same owner: this one may be about to give it back.
  if (hold.contender.request.owner === owner) {
    return `A call inside the same lock holds it (${hold.takenBy}): if that one waits for this one, it waits for itself`;
  }
  return (
    `This process itself holds it (${hold.takenBy}). Where that was the same flow of calls, it waited for itself: hand its ` +
    'handle on, or use withLock, whose lock is shared with what runs inside'
  );
}
