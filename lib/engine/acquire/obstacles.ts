import type { AcquireOptions } from '../../lock/acquire-options.js';
import type { Clock } from '../../lock/clock.js';
import { LockConfigurationError } from '../../lock/errors.js';
import { LockDrainedError } from '../../lock/intervention-errors.js';
import { inTheWayOf, readQueue, type Refusal, refusalIn } from '../../queue/decide.js';
import { decodeIntervention, DRAIN_MARKER } from '../../queue/intervention.js';
import type { KeptOut } from '../../queue/key-record.js';
import { traceparentOf } from '../../queue/node-data.js';
import type { QueueNode } from '../../queue/node-name.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { type Children, get, type GetRequest, type NodeData, type Outcome, sync } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Contender, LockRequest } from '../contender.js';
import { describeKeptOut, describeOther, describeOwn, refusal } from '../error-texts.js';
import type { ExclusionRules } from '../hold/hold-parts.js';
import type { Hold } from '../hold/hold.js';
import type { PendingTimer, Timers } from '../timers.js';
import { listQueue } from '../upkeep/key-nodes.js';
import type { LinkState } from '../upkeep/link-state.js';
import type { Patience } from '../wait.js';
import type { KeyQueue } from './key-queue.js';
import type { KeyQueues } from './key-queues.js';

/** The rules that may keep out a contender whose turn has come, by holders that the queue does not know and by the key's record. */
export interface EntryRules extends ExclusionRules {
  /** Whether the call has to read the record of its key before it enters. A try reads it for `keepsOut`. */
  readsRecord(request: LockRequest, queue: Pick<KeyQueue, 'hasRecord'> | undefined): boolean;
  /** @returns 'passed'; undefined when the queue must be looked at again; 'kept out' to one that only tries */
  pass(contender: Contender, scope: CallScope, patience: Patience): Promise<'passed' | 'kept out' | undefined>;
  /** Says what keeps out a try that finds nobody in its way. @param parent the key's node as it was read before the list */
  keepsOut(request: LockRequest, parent: Outcome<GetRequest>, listed: Children): KeptOut | undefined;
}

/** A bound on how many may be ahead of a call that joins a queue. */
export interface QueueBound {
  /** Whether this call has a bound. */
  limits(request: LockRequest): boolean;
  /**
   * Lets the call join the queue, by `join`, if no more are ahead than it allows.
   * @throws LockQueueFullError
   */
  joinWithin<T>(request: LockRequest, scope: CallScope, join: () => Promise<T>): Promise<T>;
}

/** The rules that say what the options of a call mean for the record of its key. */
export interface RecordRules {
  isUsedBy(options: AcquireOptions): boolean;
  /** @throws LockConfigurationError */
  checkOptions(options: AcquireOptions, key: string): void;
}

/** The error for a contender that cannot stand in this queue together with a node that is in it. */
export function explainRefusal({ because, node }: Refusal, { key, mode }: LockRequest): LockConfigurationError {
  switch (because) {
    case 'counter spent':
      return new LockConfigurationError(
        `The sequence counter of ${key} is used up (${node.name}): ZooKeeper no longer tells who came first. ` +
          'Delete the parent node once nobody queues there, and it starts again',
        key,
      );
    case 'foreign family':
      return new LockConfigurationError(
        `Another kind of client queues on ${key} as ${node.name}, and would not notice a contender of mode ${mode}. ` +
          'With foreign clients a key belongs to one family: exclusive locks, or read and write locks',
        key,
      );
  }
}

/**
 * Called when somebody has removed the node of a contender that waited. Whoever drains a queue puts its marker there before the first
 * removal, so a server that shows the removal shows the marker.
 * @throws LockDrainedError while the queue is being drained
 */
export async function refuseWhileDrained(
  { session, link }: { readonly session: Session; readonly link: LinkState },
  { key, queuePath }: LockRequest,
  scope: CallScope,
): Promise<void> {
  for (;;) {
    await link.whenUp(scope);
    const [marker] = await scope.guard(session.batch([get(`${queuePath}/${DRAIN_MARKER}`)]));
    if (marker instanceof SessionError) {
      if (isAboutTheLink(marker)) continue;
      return;
    }
    const { by, reason } = decodeIntervention(marker.data);
    const text = `All waits for ${key} were ended by ${by}: ${reason}. The call may ask again when that is over`;
    throw new LockDrainedError(text, key, { by, reason });
  }
}

/** The holder is looked for so long before the end of a wait, in milliseconds, */
const LOOKS_BEFORE_END_MS = 100;
/** and at most for this part of the wait. */
const LOOKS_BEFORE_END_PART = 0.1;

/** Says who holds a lock, in the error of a call that did not get it. */
export class HolderInFront {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #holds: () => readonly Hold[];
  readonly #rules: ExclusionRules;

  /** @param holds all that this process holds */
  constructor(clock: Clock, timers: Timers, holds: () => readonly Hold[], rules: ExclusionRules) {
    this.#clock = clock;
    this.#timers = timers;
    this.#holds = holds;
    this.#rules = rules;
  }

  /** Names the holder by what this process knows already. @returns undefined where it knows nothing */
  describe(queue: KeyQueue, path: string, owner: string): string | undefined {
    const holder = this.#find(queue, path);
    if (holder === undefined) return undefined;
    return 'node' in holder ? describeOther(holder.path, holder.node) : describeOwn(holder.own, owner);
  }

  /** The span in which the holder made its call, as far as it is known already. */
  traceparent(queue: KeyQueue, path: string): string | undefined {
    const holder = this.#find(queue, path);
    if (holder === undefined) return undefined;
    return 'node' in holder ? traceparentOf(holder.node.data) : holder.own.request.trace?.traceparent;
  }

  #find(queue: KeyQueue, queuePath: string): { own: Hold } | { path: string; node: NodeData } | undefined {
    if (queue.members.holder !== undefined) return { own: queue.members.holder };
    const { head } = queue.known;
    if (head === undefined) return undefined;
    const path = `${queuePath}/${head.name}`;
    const own = this.#holds().find(({ contender }) => contender.path === path);
    if (own !== undefined) return { own };
    const node = queue.blockers.dataOf(head.name);
    return node && { path, node };
  }

  /** Finds out who holds the lock shortly before a wait times out. */
  lookBeforeEnd(queue: KeyQueue, { deadline }: CallScope): PendingTimer {
    // One read serves all calls that wait in the queue, and calls that end earlier cost none. The error does not wait for the answer.
    const beforeMs = Math.min(LOOKS_BEFORE_END_MS, (deadline.at - this.#clock.now()) * LOOKS_BEFORE_END_PART);
    return this.#timers.set(deadline.at - beforeMs, () => queue.readHead());
  }

  /**
   * Names the holder for a call that did not wait, by the names of the nodes and by what this process holds, without a read.
   * @param blocking the nodes in its way; none where a rule keeps it out
   */
  describeBlocking(request: LockRequest, blocking: readonly QueueNode[]): string | undefined {
    const [first] = blocking;
    if (first === undefined) {
      const inside = this.#rules.inTheWay(request);
      return inside === undefined ? undefined : describeOwn(inside, request.owner);
    }
    // The ids are compared, as the intent of an upgraded lock has the id of its contender.
    const own = this.#holds().find(
      ({ contender }) =>
        contender.request.queuePath === request.queuePath && blocking.some(({ id }) => id === contender.id),
    );
    if (own !== undefined) return describeOwn(own, request.owner);
    return `Others hold it, or are ahead in the queue (${first.name} is the first of them): inspect(key) says who`;
  }
}

/** The result of a try that finds the lock busy. */
export class Busy {
  /** @param holder who is in the way, as a sentence; undefined where that is not known */
  constructor(readonly holder: string | undefined) {}
}

interface BusyNowParts {
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
  const inside = known?.members.inTheWayOf(mode);
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
  if (!readsRecord && listed.stat.dataLength > 0) return busyNow(parts, request, scope, true);
  const keptOut = readsRecord ? rules.keepsOut(request, parent as Outcome<GetRequest>, listed) : undefined;
  return keptOut && new Busy(describeKeptOut(keptOut));
}
