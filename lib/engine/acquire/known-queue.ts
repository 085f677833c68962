import { readQueue } from '../../queue/decide.js';
import { isEmptyRecord, parseRecord } from '../../queue/key-record.js';
import type { QueueNode } from '../../queue/node-name.js';
import { SessionError } from '../../session/errors.js';
import {
  type Children,
  type Created,
  get,
  type GetRequest,
  type NodeData,
  type Outcome,
  type Watcher,
} from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { Contender } from '../contender.js';

/** With more names than this of members that have left, a look shows which of their nodes are gone. */
const MAX_DEPARTED = 100;

interface DepartedNode {
  readonly node: QueueNode;
  /** Whether its contender held the lock, or only waited. */
  readonly hasHeld: boolean;
}

/**
 * The queue of a key as this process knows it: the newest list, without what has gone or departed since. Whoever is ahead of a
 * member that was seen (`QueueMember.isSeen`) is in it.
 */
export class KnownQueue {
  #nodes: readonly QueueNode[] = [];
  /**
   * Nodes of members that have left in good order, and excluded all others, by their names. The servers may still show them;
   * inside this process they are in nobody's way, but for some of those in `nodesFor`.
   */
  readonly #departed = new Map<string, DepartedNode>();
  /** The last change of the children that the newest list has seen. */
  #seenUpTo = -1n;

  #hasRecord = false;
  /** The change that wrote data to the key's node which are no record. */
  #plainDataSince: bigint | undefined;

  /** Whether the key had a record, or somebody who writes one, at the newest list. */
  get hasRecord(): boolean {
    return this.#hasRecord;
  }

  /** Somebody has written to the key's node, at this change, what is no record of ours. */
  sawPlainData(since: bigint): void {
    this.#plainDataSince = since;
  }

  /** In the order in which they are served. */
  get nodes(): readonly QueueNode[] {
    return this.#nodes;
  }

  /** Those that count for a contender, in the order in which they are served. */
  nodesFor(own: QueueNode): readonly QueueNode[] {
    // A writer enters when nobody is left who holds or may hold. The node of the last one that departed keeps others out meanwhile.
    if (this.#departed.size === 0 || own.mode === 'exclusive' || own.mode === 'write') return this.#nodes;
    // A contender that only waited need not be there any more: whoever drains a queue removes those behind it, and then it. Only a
    // list that comes after its node shows whether one that may enter beside those who hold is still there. And an upgrader asks the
    // servers which readers are inside, and takes a reader behind such a node for one that waits.
    const inTheWay = [...this.#departed.values()].filter(({ hasHeld }) => !hasHeld);
    if (inTheWay.length === 0) return this.#nodes;
    return [...this.#nodes, ...inTheWay.map(({ node }) => node)].sort((one, other) => one.sequence - other.sequence);
  }

  /** The first in the queue, as it was seen last. */
  get head(): QueueNode | undefined {
    return this.#nodes[0];
  }

  /** Whether nodes of members that have left may still be there. */
  get hasDeparted(): boolean {
    return this.#departed.size > 0;
  }

  /** Whether this node is of a member that has left, and whose removal is on its way. */
  isDeparted(name: string): boolean {
    return this.#departed.has(name);
  }

  /** Whether a look would let much be forgotten. Where the order is known, nothing else looks. */
  get remembersTooMuch(): boolean {
    return this.#departed.size > MAX_DEPARTED;
  }

  /** @returns the names in the list; undefined where a newer one is known already */
  listed({ children, stat }: Children): ReadonlySet<string> | undefined {
    // Several lists may be on their way, and promises tell of their answers in any order.
    if (stat.pzxid < this.#seenUpTo) return undefined;
    this.#seenUpTo = stat.pzxid;
    const nodes = readQueue(children);
    const names = new Set(nodes.map(({ name }) => name));
    const hasData = stat.dataLength > 0 && stat.mzxid !== this.#plainDataSince;
    this.#hasRecord = hasData || nodes.some(({ usesRecord }) => usesRecord);
    for (const name of this.#departed.keys()) if (!names.has(name)) this.#departed.delete(name);
    this.#nodes = this.#departed.size === 0 ? nodes : nodes.filter(({ name }) => !this.#departed.has(name));
    return names;
  }

  /** A contender of this process stands at the end, and nobody else has come in between. */
  append({ queueNode, czxid }: Contender): void {
    // A newer list shows the contender already, unless somebody has removed it.
    if (czxid <= this.#seenUpTo) return;
    this.#seenUpTo = czxid;
    this.#nodes = [...this.#nodes, queueNode];
  }

  /** A contender of this process leaves in good order: its node is about to be removed. */
  departed(node: QueueNode, hasHeld: boolean): void {
    this.#forget(node.name);
    this.#departed.set(node.name, { node, hasHeld });
  }

  removed(name: string): void {
    this.#departed.delete(name);
    this.#forget(name);
  }

  /** The contender of this node has held the lock, so whoever was ahead of it has gone before it. */
  releasedBy(name: string): void {
    const index = this.#nodes.findIndex((node) => node.name === name);
    if (index !== -1) this.#nodes = this.#nodes.slice(index + 1);
  }

  #forget(name: string): void {
    if (this.#nodes.some((node) => node.name === name)) this.#nodes = this.#nodes.filter((node) => node.name !== name);
  }
}

/** A read of the key's node that sets a watch on it, to be sent behind the create of a contender. */
export interface WatchQuestion {
  readonly request: GetRequest;
  /** Takes the answers to this read and to the create in front of it. */
  answered(outcome: Outcome<GetRequest>, created: Created | SessionError): void;
}

/**
 * Tells whether the newest contender of this process is followed by its next one, so that no list need be read. The servers
 * number the children of a node one after the other: where the two numbers are neighbours, nobody else came in between.
 */
export class KnownOrder implements Watcher {
  readonly #session: Session;
  readonly #path: string;
  readonly #known: KnownQueue;
  #questions = 0;
  /** The question of which neither an answer nor an event has come yet. */
  #openQuestion: number | undefined;
  /**
   * Whether the node of the key is watched. Numbers begin anew where that node is removed and made again; the watch tells of
   * that before any answer that the new node gives.
   */
  #isWatched = false;
  /** The transaction that created the node which is watched. */
  #nodeCzxid = 0n;
  /** The number of the newest contender of this process below that node of which it is known who is ahead. */
  #newest: number | undefined;
  /**
   * The number of the contender that was seen last, with a watch or without. It only tells whether the key is used by this
   * process alone, and proves nothing.
   */
  #last: number | undefined;
  /** Whether that one followed another one of this process: most likely nobody else uses the key now. */
  #isAlone = false;

  constructor(session: Session, queuePath: string, known: KnownQueue) {
    this.#session = session;
    this.#path = queuePath;
    this.#known = known;
  }

  /** Whether the next contender of this process will most likely follow the newest one, as the last one did. */
  get isUsed(): boolean {
    return this.#isWatched && this.#isAlone;
  }

  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** Whether the watch has been asked for, and may still be answered. */
  get isAsked(): boolean {
    return this.#openQuestion !== undefined;
  }

  askToWatch(): WatchQuestion {
    const question = (this.#questions += 1);
    this.#openQuestion = question;
    return {
      request: get(this.#path, this),
      answered: (outcome, created) => this.#answered(question, outcome, created),
    };
  }

  #answered(question: number, outcome: Outcome<GetRequest>, created: Created | SessionError): void {
    // An event has used its watch up. Promises tell of answers in any order, so this may be older than the newest question.
    if (question !== this.#openQuestion) return;
    this.#openQuestion = undefined;
    if (outcome instanceof SessionError) return;
    if (!provesOrder(outcome, created)) {
      // Otherwise each writer to a record would tell this process of its release, which concerns nobody here.
      this.#session.unwatch(this.#path, this);
      return;
    }
    if (outcome.stat.dataLength > 0) this.#known.sawPlainData(outcome.stat.mzxid);
    this.#isWatched = true;
    this.#nodeCzxid = outcome.stat.czxid;
  }

  /** This contender was seen: who is ahead of it is known. */
  sees({ queueNode: { sequence }, czxid }: Contender): void {
    if (sequence !== this.#last) this.#isAlone = sequence - 1 === this.#last;
    this.#last = sequence;
    // A node of that name was there before, and had numbers of its own.
    if (!this.#isWatched || czxid < this.#nodeCzxid) return;
    if (this.#newest !== undefined && sequence <= this.#newest) return;
    this.#newest = sequence;
  }

  /** Whether nobody else has come between the newest one that was seen and this one. */
  isFollowedBy({ queueNode: { sequence } }: Contender): boolean {
    return this.#isWatched && this.#newest !== undefined && sequence === this.#newest + 1;
  }

  onWatchEvent(): void {
    this.#openQuestion = undefined;
    this.#isWatched = false;
    this.#newest = undefined;
  }

  forget(): void {
    if (this.#questions > 0) this.#session.unwatch(this.#path, this);
    this.onWatchEvent();
  }
}

/** Whether the watch on the node of a key can show who comes between its children. */
function provesOrder({ data, stat }: NodeData, created: Created | SessionError): boolean {
  // Only a node that is older than the contender has had it as a child.
  if (created instanceof SessionError || stat.czxid >= created.stat.czxid) return false;
  // A record has to be read by everybody, whatever the order; the next list shows that it is there.
  return stat.dataLength === 0 || isEmptyRecord(parseRecord(data));
}
