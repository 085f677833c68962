import type { Clock } from '../../lock/clock.js';
import { LockConfigurationError } from '../../lock/errors.js';
import type { Refusal } from '../../queue/decide.js';
import type { KeptOut } from '../../queue/key-record.js';
import type { QueueNode } from '../../queue/node-name.js';
import type { GetRequest, Outcome } from '../../session/requests.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Contender, LockRequest } from '../contender.js';
import { describeOther, describeOwn } from '../error-texts.js';
import type { ExclusionRules } from '../hold/hold-parts.js';
import type { Hold } from '../hold/hold.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { Patience } from '../wait.js';
import type { KeyQueue } from './key-queue.js';

/** The holder is looked for so long before the end of a wait, in milliseconds, */
const LOOKS_BEFORE_END_MS = 100;
/** and at most for this part of the wait. */
const LOOKS_BEFORE_END_PART = 0.1;

/** The result of a try that finds the lock busy. */
export class Busy {
  /** @param holder who is in the way, as a sentence; undefined where that is not known */
  constructor(readonly holder: string | undefined) {}
}

/** What else may keep out a contender whose turn has come: holders of this process that the queue does not know, the record of the key. */
export interface EntryRules extends ExclusionRules {
  /** Whether the call has to read the record of its key before it enters. A try reads it for `keepsOut`. */
  readsRecord(request: LockRequest, queue: Pick<KeyQueue, 'hasRecord'> | undefined): boolean;
  /** @returns 'passed'; undefined when the queue must be looked at again; 'kept out' to one that only tries */
  pass(contender: Contender, scope: CallScope, patience: Patience): Promise<'passed' | 'kept out' | undefined>;
  /** What keeps out a try that finds nobody in the queue. `parent`: the key's node as it was read. */
  keepsOut(request: LockRequest, parent: Outcome<GetRequest>, queue: readonly QueueNode[]): KeptOut | undefined;
}

/** A bound on how many may be ahead of a call that joins a queue. */
export interface QueueBound {
  /** Whether there is one for this call. */
  limits(request: LockRequest): boolean;
  /**
   * Lets the call join the queue, by `join`, if no more are ahead than it allows.
   * @throws LockQueueFullError
   */
  joinWithin<T>(request: LockRequest, scope: CallScope, join: () => Promise<T>): Promise<T>;
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

  /** Says it by what is known already. @returns undefined where nothing is known */
  describe(queue: KeyQueue, path: string, owner: string): string | undefined {
    if (queue.holder !== undefined) return describeOwn(queue.holder, owner);
    const { head } = queue.known;
    if (head === undefined) return undefined;
    const own = this.#holds().find(({ contender }) => contender.path === `${path}/${head.name}`);
    if (own !== undefined) return describeOwn(own, owner);
    const data = queue.blockers.dataOf(head.name);
    return data === undefined ? undefined : describeOther(`${path}/${head.name}`, data);
  }

  /** Finds out who holds the lock shortly before a wait times out. */
  lookBeforeEnd(queue: KeyQueue, { deadline }: CallScope): PendingTimer {
    // That is one read for all that wait in the queue, and none for calls that end earlier. The error does not wait for the answer.
    const beforeMs = Math.min(LOOKS_BEFORE_END_MS, (deadline.at - this.#clock.now()) * LOOKS_BEFORE_END_PART);
    return this.#timers.set(deadline.at - beforeMs, () => queue.readHead());
  }

  /**
   * Says it for a call that did not wait, by the names of the nodes and by what this process holds, without a read.
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
