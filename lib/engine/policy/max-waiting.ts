import { LockQueueFullError } from '../../lock/errors.js';
import { type Counted, countAhead, readQueue } from '../../queue/decide.js';
import type { QueueNode } from '../../queue/node-name.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { type Children, sync } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { KeyQueues } from '../acquire/key-queues.js';
import type { QueueBound } from '../acquire/obstacles.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { LockRequest } from '../contender.js';
import { refusal } from '../error-texts.js';
import type { HoldHistory } from '../hold/hold-parts.js';
import { listQueue } from '../upkeep/key-nodes.js';
import type { LinkState } from '../upkeep/link-state.js';

export interface MaxWaitingParts {
  readonly session: Session;
  readonly link: LinkState;
  readonly keyQueues: KeyQueues;
  readonly history: HoldHistory;
  /** The module's bound, for calls that have none of their own. */
  readonly usual: number;
}

/** A look at a queue that is under way, and the one behind it. */
interface Look {
  readonly answer: Promise<Children | SessionError>;
  /** Whether it was asked for in this very turn of promises: nobody can have had any news since. */
  isNew: boolean;
  next?: Promise<Children | SessionError>;
}

/**
 * `maxWaiting`: a call joins the queue of a key only if no more are ahead than it allows. The contenders of this process are counted
 * first, which costs nothing, and then a list is read. A full queue costs no write.
 */
export class MaxWaiting implements QueueBound {
  readonly #parts: MaxWaitingParts;
  /**
   * The calls with a bound that have asked for a key and do not hold it yet, in the order in which they asked. From its question on
   * each counts for those behind it; otherwise all that ask before the first create is sent would find the queue empty.
   */
  readonly #asked = new Map<string, Set<LockRequest>>();
  readonly #looks = new Map<string, Look>();

  constructor(parts: MaxWaitingParts) {
    this.#parts = parts;
  }

  limits(request: LockRequest): boolean {
    return this.#bound(request) !== Infinity;
  }

  async joinWithin<T>(request: LockRequest, scope: CallScope, join: () => Promise<T>): Promise<T> {
    const { queuePath } = request;
    const asked = this.#asked.get(queuePath) ?? new Set();
    this.#asked.set(queuePath, asked.add(request));
    try {
      this.#check(request, []);
      this.#check(request, await this.#list(request, scope));
      return await join();
    } finally {
      asked.delete(request);
      if (asked.size === 0 && this.#asked.get(queuePath) === asked) this.#asked.delete(queuePath);
    }
  }

  #bound({ options }: LockRequest): number {
    return options.maxWaiting ?? this.#parts.usual;
  }

  #check(request: LockRequest, listed: readonly QueueNode[]): void {
    const { key, mode } = request;
    const bound = this.#bound(request);
    const ahead = countAhead(this.#aheadOf(request, listed), mode);
    if (ahead <= bound) return;
    // A place is free again when so many have had their turn.
    const averageMs = this.#parts.history.averageMs(key);
    const retryAfterMs = averageMs === undefined ? undefined : Math.round(averageMs * (ahead - bound));
    const advice = retryAfterMs === undefined ? '' : `, in about ${retryAfterMs} ms`;
    const text =
      `The queue of ${key} is full: ${ahead} ahead, those who hold the lock being one, and maxWaiting is ${bound}. Try again ` +
      `later${advice}, hold the lock shorter, or raise maxWaiting`;
    throw new LockQueueFullError(text, key, { retryAfterMs });
  }

  /** The contenders of a list, as far as they have not departed, and those of this process: by their ids these are counted once. */
  *#aheadOf(request: LockRequest, listed: readonly QueueNode[]): Generator<Counted> {
    const queue = this.#parts.keyQueues.find(request.queuePath);
    for (const node of listed) if (queue?.known.isDeparted(node.name) !== true) yield node;
    const own = new Set<LockRequest>();
    for (const { request: its, id } of queue?.contenders() ?? []) {
      own.add(its);
      yield { mode: its.mode, id };
    }
    for (const its of this.#asked.get(request.queuePath) ?? []) {
      if (its === request) return;
      if (!own.has(its)) yield { mode: its.mode, id: undefined };
    }
  }

  async #list({ key, queuePath }: LockRequest, scope: CallScope): Promise<readonly QueueNode[]> {
    const { link } = this.#parts;
    for (;;) {
      if (!link.isUp) await link.whenUp(scope);
      const listed = await scope.guard(this.#look(queuePath));
      if (!(listed instanceof SessionError)) return readQueue(listed.children);
      if (failedWith(listed, 'NO_NODE')) return [];
      if (!isAboutTheLink(listed)) throw refusal(listed, key);
    }
  }

  /** However many ask at once, two looks are under way at the most. */
  #look(queuePath: string): Promise<Children | SessionError> {
    const underWay = this.#looks.get(queuePath);
    if (underWay === undefined) return this.#send(queuePath);
    if (underWay.isNew) return underWay.answer;
    // The look under way may have been sent before a release that the caller knows of, so the caller shares the next look.
    return (underWay.next ??= underWay.answer.then(() => this.#send(queuePath)));
  }

  #send(queuePath: string): Promise<Children | SessionError> {
    const answer = this.#parts.session.batch([sync(queuePath), listQueue(queuePath)]).then(([synced, listed]) => {
      this.#looks.delete(queuePath);
      return synced instanceof SessionError && isAboutTheLink(synced) ? synced : listed;
    });
    const look = { answer, isNew: true };
    this.#looks.set(queuePath, look);
    queueMicrotask(() => (look.isNew = false));
    return answer;
  }
}
