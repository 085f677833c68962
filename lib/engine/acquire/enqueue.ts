import { wallNow } from '../../lock/clock.js';
import { LockConfigurationError, LockUnavailableError } from '../../lock/errors.js';
import { namePrefix } from '../../queue/node-name.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { type Children, create, type Created, type CreateRequest, get } from '../../session/requests.js';
import type { SessionIdentity } from '../../session/session.js';
import { TooLargeAnswerError } from '../../session/too-large-answer-error.js';
import { encodeContender } from './contender-data.js';
import type { EngineContext } from '../context.js';
import type { Interrupt } from '../bounds/interrupt.js';
import { listBehindWrites } from '../upkeep/list-behind-writes.js';
import { listQueue } from '../upkeep/list-queue.js';
import { type LockRequest, OwnWatch, type Place } from './place.js';

/** A contender that has just taken its place, with what it saw; undefined: it must look. */
export interface Enqueued {
  readonly place: Place;
  readonly children: readonly string[] | undefined;
}

/**
 * Takes a place at the end of the queue in one round trip: parents where they may be missing, the contender, and a list.
 * Goes on until it stands in a session that is up, or is interrupted; in the latter case whatever it may have created is
 * removed in the background.
 */
export async function enqueue(context: EngineContext, request: LockRequest, interrupt: Interrupt): Promise<Enqueued> {
  const { session, uplink, parents, janitor, identifiers } = context;
  const { queuePath } = request;
  /** The last contender that was sent, as long as it, or a parent in front of it, may be there. */
  let sent: string | undefined;
  try {
    for (;;) {
      if (!uplink.isUp) await uplink.whenUp(interrupt);
      const { identity } = session;
      if (identity === undefined) throw new LockUnavailableError('The session has just ended', request.key);
      const id = identifiers.next();
      const requests = [...parents.missing(queuePath), contender(context, request, id), listQueue(queuePath)];
      sent = id;
      const outcomes: readonly unknown[] = await interrupt.guard(session.batch(requests));
      const created = outcomes.at(-2) as Created | SessionError;
      const listed = outcomes.at(-1) as Children | SessionError;
      if (!(created instanceof SessionError)) {
        parents.seen(queuePath);
        const place = placeOf(created.path, id, created.stat.czxid, identity);
        if (!failedWith(listed, 'TOO_LARGE'))
          return { place, children: listed instanceof SessionError ? undefined : listed.children };
        void janitor.remove([place.path]);
        sent = undefined;
        throw refusal(listed, request.key);
      }
      if (created.code === 'NO_NODE') {
        const parentMissing = whyMissing(outcomes.slice(0, -2));
        if (parentMissing !== undefined) throw refusal(parentMissing, request.key);
        if (requests[0]!.path.lastIndexOf('/') === 0 && failedWith(outcomes[0], 'NO_NODE')) {
          sent = undefined;
          throw rootMissing(request.key);
        }
        parents.vanished(queuePath);
      } else if (created.outcomeUnknown) {
        const found = await findAgain(context, request, id, identity, interrupt);
        if (found !== undefined) return { place: found, children: undefined };
        // Others may have seen it in the queue, where it is no more.
        if (session.identity !== identity) tellRequeued(context, request, 'session-ended');
        // Neither reached the queue, or was carried out: the next try may.
      } else if (created.code !== 'NOT_CONNECTED' && created.code !== 'THROTTLED') throw refusal(created, request.key);
    }
  } catch (error) {
    // Behind the create on the same link, or on the next one: it finds what the create may have left.
    if (sent !== undefined) void janitor.sweep(queuePath, sent);
    throw error;
  }
}

export function tellRequeued(
  { events }: EngineContext,
  { key, mode, options: { label } }: LockRequest,
  reason: 'session-ended' | 'removed',
): void {
  events.next({ type: 'requeued', key, mode, label, reason });
}

function contender(
  { settings, client, clock, history }: EngineContext,
  { key, queuePath, mode, owner, options: { label, leaseMs } }: LockRequest,
  id: string,
): CreateRequest {
  const lockDelayMs = settings.lockDelayMs || undefined;
  const holdMs = history.averageMs(key);
  const data = encodeContender(client, { owner, mode, label, leaseMs, lockDelayMs, holdMs }, wallNow(clock));
  return create(`${queuePath}/${namePrefix(mode, id)}`, 'ephemeral-sequential', data);
}

/** What keeps the deepest parent from being made, if trying again cannot help. Those below it only say that it is missing. */
function whyMissing(parents: readonly unknown[]): SessionError | undefined {
  const deepest = parents.findLast((outcome) => !failedWith(outcome, 'NO_NODE'));
  const refused = deepest instanceof SessionError && deepest.code !== 'NODE_EXISTS' && !isAboutTheLink(deepest);
  return refused ? deepest : undefined;
}

/**
 * After a create whose answer was lost: is it there, or still to come? A node counts only if this session owns it.
 */
async function findAgain(
  context: EngineContext,
  { key, queuePath }: LockRequest,
  id: string,
  identity: SessionIdentity,
  interrupt: Interrupt,
): Promise<Place | undefined> {
  const { session, uplink, janitor } = context;
  for (;;) {
    await uplink.whenUp(interrupt);
    if (session.identity !== identity) break;
    const listed = await interrupt.guard(listBehindWrites(session, queuePath, id));
    if (failedWith(listed, 'NO_NODE')) return undefined;
    if (listed instanceof SessionError) {
      if (!isAboutTheLink(listed)) throw refusal(listed, key);
      continue;
    }
    const name = listed.children.find((child) => child.includes(id));
    if (name === undefined) return undefined;
    const path = `${queuePath}/${name}`;
    const [found] = await interrupt.guard(session.batch([get(path)]));
    if (failedWith(found, 'NO_NODE')) return undefined;
    if (found instanceof SessionError) continue;
    if (found.stat.ephemeralOwner !== identity.id) break;
    return placeOf(path, id, found.stat.czxid, identity);
  }
  // Another session's: it goes with that session, or sooner.
  void janitor.sweep(queuePath, id);
  return undefined;
}

function placeOf(path: string, id: string, czxid: bigint, session: SessionIdentity): Place {
  return {
    id,
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    czxid,
    session,
    ownWatch: new OwnWatch(path),
    lockDelay: {},
  };
}

/** Not even what stands at the top can be made. Sessions make their chroot when they begin; this one has been removed since. */
function rootMissing(key: string): LockConfigurationError {
  const text = `There is no place for the queue of ${key}: the chroot of connect has been removed. Create it again, or restart`;
  return new LockConfigurationError(text, key);
}

/** The keys below a key are children of its node, and whoever chooses their names decides how many there are. */
function overcrowded(cause: TooLargeAnswerError, key: string): LockConfigurationError {
  const text =
    `The queue of ${key} cannot be read: ${cause.message}. The keys below a key are children of its node: ` +
    'lock a key that has none below it, or fewer';
  return new LockConfigurationError(text, key, { cause });
}

/** Answers of a server that trying again does not change. */
export function refusal(error: SessionError, key: string): LockConfigurationError | LockUnavailableError {
  const cause = { cause: error };
  switch (error.code) {
    case 'NO_AUTH':
    case 'INVALID_ACL':
    case 'AUTH_FAILED':
      return new LockConfigurationError(
        `ZooKeeper denies access to the queue of ${key}: check auth and acl`,
        key,
        cause,
      );
    case 'NO_CHILDREN_FOR_EPHEMERALS':
      return new LockConfigurationError(
        `A part of the key ${key} is an ephemeral node, under which nothing can queue`,
        key,
        cause,
      );
    case 'LOCAL_SESSION':
      return new LockConfigurationError(
        `Nobody can queue on ${key}: the servers have localSessionsEnabled, and a local session cannot own a place in a queue. ` +
          'Set localSessionsUpgradingEnabled=true in their zoo.cfg, or localSessionsEnabled=false',
        key,
        cause,
      );
    case 'READ_ONLY':
      return new LockConfigurationError(
        `Nobody can queue on ${key}: the server is read-only (readonlymode.enabled, and it has no quorum). Turn that flag off, ` +
          'or list only servers of the quorum in connect',
        key,
        cause,
      );
    case 'QUOTA_EXCEEDED':
      return new LockConfigurationError(`A ZooKeeper quota leaves no room in the queue of ${key}`, key, cause);
    case 'TOO_LARGE':
      if (error instanceof TooLargeAnswerError) return overcrowded(error, key);
      return new LockConfigurationError(`ZooKeeper cannot keep a queue for ${key}: ${error.message}`, key, cause);
    case 'BAD_ARGUMENTS':
    case 'UNIMPLEMENTED':
      return new LockConfigurationError(`ZooKeeper cannot keep a queue for ${key}: ${error.message}`, key, cause);
    default:
      return new LockUnavailableError(`ZooKeeper refused a place in the queue of ${key}: ${error.message}`, key, cause);
  }
}
