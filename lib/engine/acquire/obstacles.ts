import type { Clock } from '../../lock/clock.js';
import { LockConfigurationError } from '../../lock/errors.js';
import type { Refusal } from '../../queue/decide.js';
import type { QueueNode } from '../../queue/node-name.js';
import type { GetRequest, MultiPart, Outcome } from '../../session/requests.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Contender, LockRequest } from '../contender.js';
import { describeOther, describeOwn } from '../hold/describe-hold.js';
import type { Hold } from '../hold/hold.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { KeyQueue } from './key-queue.js';

/** Of the whole wait, for the answer to who holds the lock. At most so long, and so much of it. */
const LOOKS_BEFORE_END_MS = 100;
const LOOKS_BEFORE_END_PART = 0.1;

/** For who stays in the queue until its turn comes, or leaves as soon as it would have to wait. */
export type Patience = 'waits' | 'tries';

/** What a try comes to that finds the lock busy. */
export class Busy {
  /** @param holder who is in the way, as a sentence; undefined where that is not known */
  constructor(readonly holder: string | undefined) {}
}

/** What may keep out one whose turn has come: holders of this process that the queue does not know, a lock-delay. */
export interface EntryRules {
  /** Whether nothing but a wait that takes turns of the event loop keeps it out; asked in the turn in which it enters. */
  isOpen(request: LockRequest): boolean;
  /** Resolves when that may have changed. */
  whenOpen(key: string, scope: CallScope): Promise<void>;
  /** Whether something is to be found out, or waited for, before anybody enters. */
  readonly takesTime: boolean;
  /**
   * @returns what belongs into the transaction that releases the lock; undefined when the queue must be looked at again;
   * 'kept out' to one that only tries
   */
  pass(
    contender: Contender,
    scope: CallScope,
    patience: Patience,
  ): Promise<readonly MultiPart[] | 'kept out' | undefined>;
  /** For a try that finds nobody in the queue: whether it would be kept out. `data`: that of the key's node. */
  readonly readsKeyNode: boolean;
  keepsOut(request: LockRequest, parent: Outcome<GetRequest>, queue: readonly QueueNode[]): boolean;
}

/** The error for one that cannot stand in a queue with what is in there. */
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
  readonly #insideElsewhere: (request: LockRequest) => Hold | undefined;

  /**
   * @param holds all that this process holds
   * @param insideElsewhere a hold of this process that keeps out a request, though it is not in the same queue
   */
  constructor(
    clock: Clock,
    timers: Timers,
    holds: () => readonly Hold[],
    insideElsewhere: (request: LockRequest) => Hold | undefined,
  ) {
    this.#clock = clock;
    this.#timers = timers;
    this.#holds = holds;
    this.#insideElsewhere = insideElsewhere;
  }

  /** By what is known already; undefined where it is not. */
  describe(queue: KeyQueue, path: string, owner: string): string | undefined {
    if (queue.holder !== undefined) return describeOwn(queue.holder, owner);
    const { head } = queue.known;
    if (head === undefined) return undefined;
    const own = this.#holds().find(({ contender }) => contender.path === `${path}/${head.name}`);
    if (own !== undefined) return describeOwn(own, owner);
    const data = queue.blockers.dataOf(head.name);
    return data === undefined ? undefined : describeOther(`${path}/${head.name}`, data);
  }

  /**
   * Finds out who it is shortly before a wait times out: one read, of the node at the head of the queue, for all that wait in
   * it, and none for who does not wait so long. The error does not wait for its answer.
   */
  lookBeforeEnd(queue: KeyQueue, { deadline }: CallScope): PendingTimer {
    const beforeMs = Math.min(LOOKS_BEFORE_END_MS, (deadline.at - this.#clock.now()) * LOOKS_BEFORE_END_PART);
    return this.#timers.set(deadline.at - beforeMs, () => queue.readHead());
  }

  /**
   * For a call that did not wait, and reads nothing for this: what the names say, and this process knows by itself.
   * @param blocking those in its way, as it saw them; none where something else keeps it out
   */
  describeBlocking(request: LockRequest, blocking: readonly QueueNode[]): string | undefined {
    const [first] = blocking;
    if (first === undefined) {
      const inside = this.#insideElsewhere(request);
      return inside === undefined ? undefined : describeOwn(inside, request.owner);
    }
    // By the id, which the intent of a lock that was upgraded shares with it.
    const own = this.#holds().find(
      ({ contender }) =>
        contender.request.queuePath === request.queuePath && blocking.some(({ id }) => id === contender.id),
    );
    if (own !== undefined) return describeOwn(own, request.owner);
    return `Others hold it, or are ahead in the queue (${first.name} is the first of them): inspect(key) says who`;
  }
}
