import type { AbandonedLock } from '../lock/abandoned.js';
import type { AcquireOptions } from '../lock/acquire-options.js';
import type { AcquireMessage } from '../lock/channels.js';
import type { LockMode } from '../lock/mode.js';
import { ownNode, type QueueNode, releaseMark } from '../queue/node-name.js';
import { create, type MultiPart, remove, type Stat } from '../session/requests.js';
import type { SessionIdentity } from '../session/session.js';
import type { KeptOut } from '../queue/key-record.js';
import type { OwnNode } from './own-node.js';
import type { RecordEntry } from './record-entry.js';

const NOTHING: readonly MultiPart[] = [];

/** One call's request for a lock. */
export interface LockRequest {
  readonly key: string;
  /** The node below which the contenders of the key queue: the key under the namespace. */
  readonly queuePath: string;
  readonly mode: LockMode;
  /** The logical caller, as the contender's data names it. */
  readonly owner: string;
  readonly options: AcquireOptions;
  readonly askedAt: number;
  /** Whether its contender writes into the record of the key when it enters as a writer. */
  readonly usesRecord: boolean;
  /** The message about the call on its channel; undefined where nobody listens. */
  readonly trace?: AcquireMessage | undefined;
}

/** The facts of a request that every event about it has. */
export interface FactsOfRequest {
  readonly key: string;
  readonly mode: LockMode;
  readonly label: string | undefined;
  readonly template: string | undefined;
  readonly owner: string;
}

export function factsOf({ key, mode, owner, options: { label, template } }: Asked): FactsOfRequest {
  return { key, mode, label, template, owner };
}

/** A request before anything is known of its key. */
export type Asked = Pick<LockRequest, 'key' | 'mode' | 'owner' | 'options'>;

/** How a contender leaves its queue: in good order, or because its lock was lost. */
export type Leaving = 'departed' | 'lost';

/**
 * The nodes that must be there when a node in front of them is removed: contenders hold already that rely on them. The removal is
 * carried out only where all are there. It is asked anew at each attempt.
 */
export interface Guard {
  paths(): readonly string[];
  /** These nodes were there when the node in front of them was removed. */
  confirmed(paths: readonly string[]): void;
  /** Somebody has removed this node; the guarded removal has not been carried out. */
  missing(path: string): void;
}

/** One request's place in the queue of its key: its node, and the session it lives by. */
export class Contender {
  /** The name of a holder that vanished, and for which this contender has waited until its delay was over. */
  waitedFor: string | undefined;
  /** Whether the contender has read the record of its key before it entered. */
  hasReadRecord = false;
  /** The change that wrote the data of the key's node, where the contender has read them and they are no record. */
  plainDataSince: bigint | undefined;
  /** The holder that vanished, as the contender found it in the record. */
  abandoned: AbandonedLock | undefined;
  /** The entry that the contender has written, or is writing, into the record of its key. */
  record: RecordEntry | undefined;
  /** The reason why a contender that only tries is kept out, though nobody is ahead of it. */
  keptOutBy: KeptOut | undefined;
  /** The transaction that created the node. */
  readonly czxid: bigint;
  /** The time of that transaction by the servers' clock. */
  readonly ctime: number;
  /** A time that the servers' clock has shown since the node was created, */
  #serverMs: number;
  /** the transaction that had this time, */
  #serverMsZxid: bigint;
  /** and the moment at which this process knew of it. */
  #serverMsKnownAt: number;
  /** Whether the contender has waited for one of another process: most likely such a one waits for it now. */
  hasWaited = false;
  /** The contender's node as lists of the queue show it. */
  readonly queueNode: QueueNode;
  #onLeave: ((leaving: Leaving) => Guard | undefined) | undefined;

  constructor(
    readonly request: LockRequest,
    /** The id in the name of its node, and in that of an upgrade's intent. */
    readonly id: string,
    readonly node: OwnNode,
    { czxid, ctime }: Pick<Stat, 'czxid' | 'ctime'>,
  ) {
    this.czxid = czxid;
    this.ctime = ctime;
    this.#serverMs = ctime;
    this.#serverMsZxid = czxid;
    this.#serverMsKnownAt = request.askedAt;

    const name = node.path.slice(node.path.lastIndexOf('/') + 1);
    this.queueNode = ownNode(name, request.mode, id, request.usesRecord);
  }

  get serverMs(): number {
    return this.#serverMs;
  }

  /** About how long ago the servers' clock showed `serverMs`. */
  sinceServerMs(now: number): number {
    return now - this.#serverMsKnownAt;
  }

  /** Whether the servers' clock showed `serverMs` after this transaction. */
  isServerMsAfter(zxid: bigint): boolean {
    return this.#serverMsZxid > zxid;
  }

  sawServerClock({ mtime, mzxid }: Pick<Stat, 'mtime' | 'mzxid'>, now: number): void {
    this.#serverMs = mtime;
    this.#serverMsZxid = mzxid;
    this.#serverMsKnownAt = now;
  }

  get session(): SessionIdentity {
    return this.node.identity;
  }

  get name(): string {
    return this.queueNode.name;
  }

  get path(): string {
    return this.node.path;
  }

  /**
   * The mark that tells a contender of another process, in the transaction that releases the lock, that it is the next one: this one
   * has held the lock, so nobody else is ahead.
   */
  get releaseMarks(): readonly MultiPart[] {
    const { mode } = this.request;
    // A contender that did not wait itself is most likely waited for by nobody, and saves the two parts of the transaction.
    // An upgraded lock has two nodes, of which the intent is not at the head of the queue.
    if (!this.hasWaited || (mode !== 'exclusive' && mode !== 'write')) return NOTHING;
    const mark = releaseMark(this.path);
    return [create(mark, 'persistent'), remove(mark)];
  }

  /** The queue hears when the contender leaves, so that those of this process behind it need not wait for the servers. */
  joined(onLeave: (leaving: Leaving) => Guard | undefined): void {
    this.#onLeave = onLeave;
  }

  /** Must be called before the contender's node is removed. @returns the guard of that removal */
  leave(leaving: Leaving): Guard | undefined {
    // Its own removal is no loss that the node's listeners should hear of.
    this.node.forget();
    const onLeave = this.#onLeave;
    this.#onLeave = undefined;
    return onLeave?.(leaving);
  }
}
