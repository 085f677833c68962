import {
  LockAbandonedError,
  LockConfigurationError,
  LockLostError,
  LockUnavailableError,
  type LossEvidence,
} from '../lock/errors.js';
import type { LockEventFacts, LossReason } from '../lock/events.js';
import { LockBrokenError } from '../lock/intervention-errors.js';
import type { Intervention } from '../queue/intervention.js';
import { type KeptOut, type RecordedHolder, toldOf, type Vanished } from '../queue/key-record.js';
import { decodeContender } from '../queue/node-data.js';
import { parseNodeName } from '../queue/node-name.js';
import { describeDenial, isAboutTheLink, type SessionError, TooLargeAnswerError } from '../session/errors.js';
import type { NodeData } from '../session/requests.js';
import type { Session } from '../session/session.js';
import type { LockRequest } from './contender.js';

/** At most this many characters of a checkpoint are shown. */
const MAX_SHOWN = 200;

/** Makes the error for an answer of the servers that trying again does not change. */
export function refusal(error: SessionError, key: string): LockConfigurationError | LockUnavailableError {
  const misconfigured = describeMisconfiguration(error, key);
  if (misconfigured !== undefined) return new LockConfigurationError(misconfigured, key, { cause: error });
  const text = `ZooKeeper refused a place in the queue of ${key}: ${error.message}`;
  return new LockUnavailableError(text, key, { cause: error });
}

/** Throws where looking again does not help: where the node was removed or changed meanwhile, the next look tells. */
export function throwRefusal(refused: SessionError, key: string): void {
  if (isAboutTheLink(refused) || refused.code === 'NO_NODE' || refused.code === 'BAD_VERSION') return;
  throw refusal(refused, key);
}

/** @returns undefined where the servers, not their settings or the caller's, are in the way */
function describeMisconfiguration(error: SessionError, key: string): string | undefined {
  switch (error.code) {
    case 'NO_AUTH':
    case 'INVALID_ACL':
    case 'AUTH_FAILED':
      return describeDenial(error, `the queue of ${key}`);
    case 'NO_CHILDREN_FOR_EPHEMERALS':
      return `A part of the key ${key} is an ephemeral node, under which nothing can queue`;
    case 'LOCAL_SESSION':
      return (
        `Nobody can queue on ${key}: the servers have localSessionsEnabled, and a local session cannot own a place in a queue. ` +
        'Set localSessionsUpgradingEnabled=true in their zoo.cfg, or localSessionsEnabled=false'
      );
    case 'READ_ONLY':
      return (
        `Nobody can queue on ${key}: the server is read-only (readonlymode.enabled, and it has no quorum). Turn that flag off, ` +
        'or list only servers of the quorum in connect'
      );
    case 'QUOTA_EXCEEDED':
      return `A ZooKeeper quota leaves no room in the queue of ${key}`;
    case 'TOO_LARGE':
    case 'BAD_ARGUMENTS':
    case 'UNIMPLEMENTED':
      if (!(error instanceof TooLargeAnswerError)) return `ZooKeeper cannot keep a queue for ${key}: ${error.message}`;
      return (
        `The queue of ${key} cannot be read: ${error.message}. The keys below a key are children of its node: ` +
        'lock a key that has none below it, or fewer'
      );
    default:
      return undefined;
  }
}

/** Makes the event about a node that nobody wants any more, and that the servers refuse to remove. */
export function notRemoved(namespace: string, nodePath: string, cause: SessionError): LockEventFacts {
  const nameAt = nodePath.lastIndexOf('/') + 1;
  const key = nodePath.slice(namespace.length, nameAt - 1);
  const mode = parseNodeName(nodePath.slice(nameAt))?.mode ?? 'exclusive';
  const unknown = { label: undefined, template: undefined, owner: undefined };
  return { type: 'not-removed', key, mode, ...unknown, nodePath, error: notRemovedError(nodePath, key, cause) };
}

function notRemovedError(
  nodePath: string,
  key: string,
  cause: SessionError,
): LockConfigurationError | LockUnavailableError {
  if (cause.code === 'TOO_LARGE') {
    const text =
      `A contender may be left in the queue of ${key}, which is too long to be searched: ${cause.message}. The search is ` +
      'repeated until there are fewer; the contender ends with this session at the latest';
    return new LockConfigurationError(text, key, { cause });
  }
  const text = `The servers refuse to remove ${nodePath} (${cause.code}): it stays in the queue of ${key} until they do, or until this session ends`;
  return cause.code === 'NO_AUTH'
    ? new LockConfigurationError(`${text}. The acl must also give this client DELETE`, key, { cause })
    : new LockUnavailableError(text, key, { cause });
}

/** An event loop that stood still for this part of the session time-out is named as the cause, whatever else it led to. */
const NOTICEABLE_PART = 1 / 4;

export function lossEvidence(session: Session, linkDownMs: number, sessionTimeoutMs: number): LossEvidence {
  const { lastProofAt } = session;
  return {
    lastProofAgeMs: lastProofAt === undefined ? undefined : Math.round(session.clock.now() - lastProofAt),
    linkDownMs: Math.round(linkDownMs),
    loopStalledMs: Math.round(session.stalledMs),
    sessionTimeoutMs,
  };
}

/** The reasons for a loss of which nobody outside has told the holder. */
export type UntoldLoss = Exclude<LossReason, 'broken'>;

const WHY_LOST: Readonly<Record<UntoldLoss, string>> = {
  'session-ended': 'the servers ended the session (they heard nothing from this process for a whole session time-out)',
  uncertain:
    'the servers have not confirmed for too long that the session is alive, so another process may be about to get it',
  suspended: "the connection to ZooKeeper is down, and onSuspended is 'stop'",
  removed: 'somebody removed its node (an operator, or a tool)',
  'lease-ended': 'its leaseMs has passed without extend()',
  closed: 'the lock service was closed',
  'sibling-lost': 'another lock that was acquired together with it was lost',
};

/** The facts of a lock that the error of its loss names. */
export interface LostLock {
  readonly key: string;
  readonly heldMs: number;
  readonly evidence: LossEvidence;
}

/**
 * Makes the error of a lost lock.
 * @param heartbeat what the servers last answered to the session's heartbeat, if they refused it
 */
export function lossError(
  reason: UntoldLoss,
  { key, heldMs, evidence }: LostLock,
  heartbeat: SessionError | undefined,
): LockLostError {
  const text = `The lock ${key} was lost after ${heldMs} ms: ${WHY_LOST[reason]}${describeEvidence(reason, evidence)}`;
  // A refused heartbeat explains why certainty ended, and nothing else.
  if (reason !== 'uncertain' || heartbeat === undefined) return new LockLostError(text, key, { evidence });
  return new LockLostError(`${text}; ${describeRefusedHeartbeat(heartbeat)}`, key, { cause: heartbeat, evidence });
}

/** Makes the error of a lock that somebody has broken. */
export function brokenError({ key, heldMs, evidence }: LostLock, { by, reason }: Intervention): LockBrokenError {
  const text =
    `The lock ${key} was broken after ${heldMs} ms by ${by}: ${reason}. Others are kept out until the work under it has ended, ` +
    'or the grace is over: put right what is half done, and end';
  return new LockBrokenError(text, key, { by, reason, evidence });
}

/** Says in one clause whether the process, the link or the servers were the cause; '' where the reason says it all. */
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

/** Names a holder that vanished inside, by what it wrote down itself. */
function describeVanished({ host = 'an unknown host', pid, label, since, checkpoint }: RecordedHolder): string {
  const process = pid === undefined ? host : `${host} (pid ${pid})`;
  const who = label === undefined ? process : `${label} on ${process}`;
  const how = checkpoint === undefined ? '' : `, its last checkpoint ${JSON.stringify(checkpoint).slice(0, MAX_SHOWN)}`;
  return `${who}, in the queue since ${new Date(since).toISOString()}${how},`;
}

/** Says why a contender that nobody is ahead of is kept out for some time. */
export function describeKeptOut(by: KeptOut): string {
  return by.kind === 'busy'
    ? `Its last run began so short a time ago that it stays busy for ${by.forMs} ms (atLeastMs)`
    : `${describeVanished(by.holder)} vanished inside, and the lock-delay after it is not over`;
}

/** Makes the error of a call that may not enter before the leftovers of a holder are repaired. */
export function vanishedInside(
  key: string,
  vanished: Vanished,
  because: 'hold' | 'cannot recover',
): LockAbandonedError {
  const { holder, recoverer } = vanished;
  const whom = describeVanished(holder);
  const then = recoverer === undefined ? '' : `; then ${describeVanished(recoverer)} entered, and vanished as well`;
  const clear = `clear('${key}', { token: ${(recoverer ?? holder).token}n, reason, by }) of the lock doctor opens it`;
  const what =
    because === 'hold'
      ? `With onAbandoned: 'hold' it stays closed until what was left is repaired: ${clear}`
      : `It is to be recovered first: acquire it with onAbandoned: 'recover' and a recover function (a method has @Recover), or ${clear}`;
  return new LockAbandonedError(`The lock ${key} is closed: ${whom} vanished inside${then}. ${what}`, key, {
    abandoned: toldOf(vanished),
  });
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
export function describeOwn(
  { request, acquiredBy }: { readonly request: LockRequest; readonly acquiredBy: string },
  owner: string | undefined,
): string {
  // Calls side by side in one lock have the same owner, so the one that holds it may still be about to release it.
  if (request.owner === owner) {
    return `A call inside the same lock holds it (${acquiredBy}): if that one waits for this one, it waits for itself`;
  }
  return (
    `This process itself holds it (${acquiredBy}). If the same flow of calls acquired it, that flow waited for itself: pass ` +
    'its handle on, or use withLock, whose lock the calls inside share'
  );
}
