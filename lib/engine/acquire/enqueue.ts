import { LockConfigurationError, LockUnavailableError } from '../../lock/errors.js';
import { namePrefix, recordUserId } from '../../queue/node-name.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import {
  type Children,
  create,
  type Created,
  get,
  type GetRequest,
  type ListRequest,
  type Outcome,
} from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Identifiers } from '../bounds/owner-context.js';
import { Contender, type LockRequest } from '../contender.js';
import { OwnNode } from '../own-node.js';
import { refusal } from '../error-texts.js';
import type { Janitor } from '../upkeep/janitor.js';
import type { LinkState } from '../upkeep/link-state.js';
import { listQueue, type ListsBehindWrites, type Parents } from '../upkeep/key-nodes.js';
import type { KeyQueues } from './key-queues.js';
import type { Creation } from './queue-member.js';

/** The parts of a lock service that create a contender. */
export interface EnqueueParts {
  readonly session: Session;
  readonly link: LinkState;
  readonly janitor: Janitor;
  readonly parents: Parents;
  readonly identifiers: Identifiers;
  readonly keyQueues: KeyQueues;
  readonly lists: ListsBehindWrites;
  /** Makes the data of the contender's node. */
  readonly describe: (request: LockRequest) => string;
  /** A contender that others may have seen is gone, and its call queues again. */
  readonly onRequeued: (request: LockRequest, reason: 'session-ended' | 'removed' | 'lost') => void;
}

/** A contender whose node was just created. */
export interface EnqueuedContender {
  readonly contender: Contender;
  /** The list that was asked for behind the create; undefined where the queue is still to be looked at. */
  readonly listed: Children | undefined;
  /** Must be ended when the contender has joined those of its process. */
  readonly creation: Creation;
}

/**
 * Creates a contender at the end of the queue, in one round trip. It goes on until the node is there in a session that is up, or
 * until the call is ended. Then whatever it may have created is removed in the background.
 */
export async function enqueue(
  parts: EnqueueParts,
  request: LockRequest,
  scope: CallScope,
  always: 'lists' | undefined,
): Promise<EnqueuedContender> {
  const { session, link, parents, janitor, identifiers, keyQueues } = parts;
  const { key, queuePath } = request;
  /** The id of the last contender that was sent, as long as its node, or a parent made for it, may be there. */
  let sent: string | undefined;
  let creation: Creation | undefined;
  try {
    for (;;) {
      creation?.end();
      if (!link.isUp) await link.whenUp(scope);
      const { identity } = session;
      if (identity === undefined) throw new LockUnavailableError('The session has just ended', key);
      const id = request.usesRecord ? recordUserId(identifiers.next()) : identifiers.next();
      const queue = keyQueues.of(request);
      // The parents go in front where they may be missing. The list goes behind where no other contender of this process is there
      // with whom to share a look.
      const { lists: isListed, watches } = queue.readsBehindCreate(request, keyQueues.createsMany);
      const reads: (ListRequest | GetRequest)[] = [];
      if (isListed || always === 'lists') reads.push(listQueue(queuePath));
      if (watches !== undefined) reads.push(watches.request);
      const created = create(
        `${queuePath}/${namePrefix(request.mode, id)}`,
        'ephemeral-sequential',
        parts.describe(request),
      );
      const requests = [...parents.missing(queuePath, request.usesRecord), created, ...reads];
      sent = id;
      creation = keyQueues.creating(queue, request, id);
      const answers: Promise<readonly unknown[]> = session.batch(requests);
      if (watches !== undefined)
        void answers.then((outcomes) =>
          watches.answered(outcomes.at(-1) as Outcome<GetRequest>, answerOf(outcomes, reads).created),
        );
      const outcomes = await scope.guard(answers);
      const answer = answerOf(outcomes, reads);
      if (!(answer.created instanceof SessionError)) {
        const isNodeKept = !request.usesRecord || isKept(answer.parents);
        parents.seen(queuePath, request.usesRecord && isNodeKept);
        const contender = contenderOf(session, creation, answer.created);
        if (!isNodeKept) {
          if (await keepNode(parts, request, scope)) return { contender, listed: undefined, creation };
          void janitor.remove([contender.path]);
          continue;
        }
        if (!failedWith(answer.listed, 'TOO_LARGE'))
          return {
            contender,
            listed: answer.listed instanceof SessionError ? undefined : answer.listed,
            creation,
          };
        void janitor.remove([contender.path]);
        sent = undefined;
        throw refusal(answer.listed, key);
      }
      const refused = answer.created;
      if (refused.code === 'NO_NODE') {
        const parentMissing = whyMissing(answer.parents);
        if (parentMissing !== undefined) throw refusal(parentMissing, key);
        if (requests[0]!.path.lastIndexOf('/') === 0 && failedWith(outcomes[0], 'NO_NODE')) {
          sent = undefined;
          throw rootMissing(key);
        }
        parents.vanished(queuePath);
      } else if (refused.outcomeUnknown) {
        const found = await findAgain(parts, creation, scope);
        if (found !== undefined) return { contender: found, listed: undefined, creation };
        // The node has gone with its session from the queue, where others may have seen it.
        if (session.identity !== identity) parts.onRequeued(request, 'session-ended');
        // Otherwise the create was never carried out, or the node was removed since: the next try may succeed.
      } else if (refused.code !== 'NOT_CONNECTED' && refused.code !== 'THROTTLED') throw refusal(refused, key);
    }
  } catch (error) {
    creation?.end();
    // The sweep goes behind the create on the same link, or over the next one, so it finds what the create may have left.
    if (sent !== undefined) void janitor.sweep(queuePath, sent);
    throw error;
  }
}

interface Answer {
  readonly parents: readonly unknown[];
  readonly created: Created | SessionError;
  readonly listed: Children | SessionError | undefined;
}

const NO_PARENTS: readonly unknown[] = [];

function answerOf(outcomes: readonly unknown[], reads: readonly { readonly op: string }[]): Answer {
  const index = outcomes.length - reads.length - 1;
  return {
    parents: index === 0 ? NO_PARENTS : outcomes.slice(0, index),
    created: outcomes[index] as Created | SessionError,
    listed: reads[0]?.op === 'list' ? (outcomes[index + 1] as Children | SessionError) : undefined,
  };
}

/** @returns why a parent cannot be made, if trying again does not help */
function whyMissing(parents: readonly unknown[]): SessionError | undefined {
  // The first parent that cannot be made counts: those below it only say that it is missing.
  const deepest = parents.findLast((outcome) => !failedWith(outcome, 'NO_NODE'));
  const refused = deepest instanceof SessionError && deepest.code !== 'NODE_EXISTS' && !isAboutTheLink(deepest);
  return refused ? deepest : undefined;
}

/** Whether the last of these creates, which is that of the child that keeps the container, has its node there. */
function isKept(parents: readonly unknown[]): boolean {
  const keeper = parents.at(-1);
  return !(keeper instanceof SessionError) || keeper.code === 'NODE_EXISTS';
}

/**
 * Makes the child that keeps the key's node, and with it the record. The node was missing when that child was to be made, and another
 * process has made it before the contender came.
 * @returns whether it is kept now; where not, the call must begin anew
 */
async function keepNode(parts: EnqueueParts, { key, queuePath }: LockRequest, scope: CallScope): Promise<boolean> {
  const { session, parents } = parts;
  const outcomes = await scope.guard(session.batch(parents.missing(queuePath, true)));
  if (isKept(outcomes)) {
    parents.seen(queuePath, true);
    return true;
  }
  const refused = outcomes.at(-1) as SessionError;
  if (refused.code === 'NO_NODE') parents.vanished(queuePath);
  else if (!isAboutTheLink(refused)) throw refusal(refused, key);
  return false;
}

/** Finds the contender after a create whose answer was lost, if that was carried out. */
async function findAgain(parts: EnqueueParts, creation: Creation, scope: CallScope): Promise<Contender | undefined> {
  const { session, link, janitor, lists } = parts;
  const { id } = creation;
  const { identity } = creation.queue;
  const { key, queuePath } = creation.request;
  for (;;) {
    await link.whenUp(scope);
    if (session.identity !== identity) break;
    const listed = await scope.guard(lists.list(queuePath, id));
    if (failedWith(listed, 'NO_NODE')) return undefined;
    if (listed instanceof SessionError) {
      if (!isAboutTheLink(listed)) throw refusal(listed, key);
      continue;
    }
    const name = listed.children.find((child) => child.includes(id));
    if (name === undefined) return undefined;
    const path = `${queuePath}/${name}`;
    const [found] = await scope.guard(session.batch([get(path)]));
    if (failedWith(found, 'NO_NODE')) return undefined;
    if (found instanceof SessionError) continue;
    // A node counts only if this session owns it.
    if (found.stat.ephemeralOwner !== identity.id) break;
    return contenderOf(session, creation, { path, stat: found.stat });
  }
  // The node belongs to another session: it ends with that one, or with the sweep.
  void janitor.sweep(queuePath, id);
  return undefined;
}

function contenderOf(session: Session, { request, id, queue }: Creation, { path, stat }: Created): Contender {
  return new Contender(request, id, new OwnNode(session, path, queue.identity), stat);
}

/** The error where not even the topmost node can be made. */
function rootMissing(key: string): LockConfigurationError {
  // A session makes its chroot when it begins, so the chroot was removed since.
  const text = `There is no place for the queue of ${key}: the chroot of connect has been removed. Create it again, or restart`;
  return new LockConfigurationError(text, key);
}
