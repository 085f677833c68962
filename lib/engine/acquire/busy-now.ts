import { inTheWayOf, readQueue, refusalIn } from '../../queue/decide.js';
import { failedWith, SessionError } from '../../session/errors.js';
import { type Children, get, type GetRequest, type Outcome, sync } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { LockRequest } from '../contender.js';
import { describeKeptOut, refusal } from '../error-texts.js';
import { listQueue } from '../upkeep/key-nodes.js';
import type { KeyQueues } from './key-queues.js';
import { Busy, type EntryRules, explainRefusal, type HolderInFront } from './obstacles.js';

export interface BusyNowParts {
  readonly session: Session;
  readonly keyQueues: KeyQueues;
  readonly rules: EntryRules;
  readonly holderInFront: HolderInFront;
}

/**
 * Looks for what is in the way of a call that only tries, by a strong read, so that a busy key costs no write.
 * @param hasRecord whether the key is known to have a record
 * @returns undefined when a try would find nobody in its way
 */
export async function busyNow(
  parts: BusyNowParts,
  request: LockRequest,
  scope: CallScope,
  hasRecord = false,
): Promise<Busy | undefined> {
  const { session, keyQueues, rules, holderInFront } = parts;
  const { queuePath, mode } = request;
  if (rules.inTheWay(request) !== undefined) return new Busy(holderInFront.describeBlocking(request, []));
  // The contenders of this process are asked first, which costs nothing.
  const known = keyQueues.find(queuePath);
  const inside = known?.inTheWayOf(mode);
  if (inside !== undefined) return new Busy(holderInFront.describeBlocking(request, [inside.node]));
  const readsRecord = hasRecord || rules.readsRecord(request, known);
  const reads = readsRecord ? [get(queuePath)] : [];
  const outcomes = await scope.guard(session.batch([sync(queuePath), ...reads, listQueue(queuePath)]));
  const [synced, parent] = outcomes;
  const listed = outcomes.at(-1) as Children | SessionError;
  if (failedWith(listed, 'NO_NODE')) return undefined;
  if (listed instanceof SessionError) throw refusal(listed, request.key);
  if (synced instanceof SessionError) throw refusal(synced, request.key);
  const queue = readQueue(listed.children);
  const reason = refusalIn(queue, mode);
  if (reason !== undefined) throw explainRefusal(reason, request);
  const blocking = inTheWayOf(queue, mode);
  if (blocking.length > 0) return new Busy(holderInFront.describeBlocking(request, blocking));
  // The record is read before the list, so a holder that is named in it and is not in the list has vanished.
  if (!readsRecord && listed.stat.dataLength > 0) return busyNow(parts, request, scope, true);
  const keptOut = readsRecord ? rules.keepsOut(request, parent as Outcome<GetRequest>, queue) : undefined;
  return keptOut && new Busy(describeKeptOut(keptOut));
}
