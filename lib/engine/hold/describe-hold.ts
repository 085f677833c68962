import { LockLostError, type LossEvidence } from '../../lock/errors.js';
import type { LossReason } from '../../lock/events.js';
import { decodeContender } from '../../queue/node-data.js';
import type { SessionError } from '../../session/errors.js';
import type { NodeData } from '../../session/requests.js';
import type { HoldParts } from './hold-parts.js';
import type { Hold } from './hold.js';

/** An event loop that stood still for this part of the session time-out is named as the cause, whatever else it led to. */
const NOTICEABLE_PART = 1 / 4;

export function lossEvidence(
  { session, link }: Pick<HoldParts, 'session' | 'link'>,
  sessionTimeoutMs: number,
): LossEvidence {
  const { lastProofAt } = session;
  return {
    lastProofAgeMs: lastProofAt === undefined ? undefined : Math.round(session.clock.now() - lastProofAt),
    linkDownMs: Math.round(link.downMs),
    loopStalledMs: Math.round(session.stalledMs),
    sessionTimeoutMs,
  };
}

/**
 * Makes the error of a lost lock.
 * @param heartbeat what the servers last answered to the session's heartbeat, if they refused it
 */
export function lossError(
  reason: LossReason,
  key: string,
  heldMs: number,
  evidence: LossEvidence,
  heartbeat: SessionError | undefined,
): LockLostError {
  // A refused heartbeat explains why certainty ended, and nothing else.
  const cause = reason === 'uncertain' ? heartbeat : undefined;
  const text = describeLoss(reason, key, heldMs) + describeEvidence(reason, evidence);
  if (cause === undefined) return new LockLostError(text, key, { evidence });
  return new LockLostError(`${text}; ${describeRefusedHeartbeat(cause)}`, key, { cause, evidence });
}

/** One clause on whether the process, the link or the servers were the cause; '' where the reason says it all. */
function describeEvidence(reason: LossReason, evidence: LossEvidence): string {
  const { lastProofAgeMs, linkDownMs, loopStalledMs, sessionTimeoutMs } = evidence;
  if (reason !== 'uncertain' && reason !== 'session-ended') return '';
  // A blocked loop delays proofs and breaks links, so it is named before these.
  if (loopStalledMs >= sessionTimeoutMs * NOTICEABLE_PART) {
    return `; the event loop was blocked for ${seconds(loopStalledMs)} or more`;
  }
  if (lastProofAgeMs === undefined) return '';
  const down = linkDownMs > 0 ? `, and the link has been down for ${seconds(linkDownMs)}` : '';
  return `; the servers last confirmed a write ${seconds(lastProofAgeMs)} before${down}`;
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1_000).toFixed(1)} s`;
}

/** The heartbeat writes to a node that all who share the namespace use, whoever has made it. */
export function describeRefusedHeartbeat({ message }: SessionError): string {
  return (
    `the servers refuse the session's heartbeat (${message}). If another application made that node with other credentials, ` +
    'use the same ones, or a namespace of your own'
  );
}

function describeLoss(reason: LossReason, key: string, heldMs: number): string {
  const after = `The lock ${key} was lost after ${Math.round(heldMs)} ms: `;
  switch (reason) {
    case 'session-ended':
      return `${after}the servers ended the session (they heard nothing from this process for a whole session time-out)`;
    case 'uncertain':
      return `${after}the servers have not confirmed for too long that the session is alive, so another process may be about to get it`;
    case 'suspended':
      return `${after}the connection to ZooKeeper is down, and onSuspended is 'stop'`;
    case 'removed':
      return `${after}somebody removed its node (an operator, or a tool)`;
    case 'lease-ended':
      return `${after}its leaseMs has passed without extend()`;
    case 'closed':
      return `${after}the lock service was closed`;
    case 'sibling-lost':
      return `${after}another lock that was acquired together with it was lost`;
  }
}

/** Names the process behind a contender at the head of the queue. Nobody is ahead of that contender, so it holds the lock. */
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

/**
 * Names the call of this process that holds the lock.
 * @param owner the logical caller that waits for it
 */
export function describeOwn(hold: Hold, owner: string | undefined): string {
  // Calls side by side in one lock have the same owner, so the one that holds it may still be about to release it.
  if (hold.contender.request.owner === owner) {
    return `A call inside the same lock holds it (${hold.acquiredBy}): if that one waits for this one, it waits for itself`;
  }
  return (
    `This process itself holds it (${hold.acquiredBy}). If the same flow of calls acquired it, that flow waited for itself: pass ` +
    'its handle on, or use withLock, whose lock the calls inside share'
  );
}
