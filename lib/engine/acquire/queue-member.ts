import { LOCK_MODES, type LockMode } from '../../lock/mode.js';
import { blocks, type Refusal } from '../../queue/decide.js';
import type { QueueNode } from '../../queue/node-name.js';
import type { Member } from '../collections.js';
import type { Contender, LockRequest } from '../contender.js';
import type { Hold } from '../hold/hold.js';
import type { KeyQueue } from './key-queue.js';

/** The news that a contender gets from its queue. */
export type Turn =
  /** The contender has entered: the lock was handed over, or the newest list let it hold. */
  | { readonly kind: 'holds'; readonly hold: Hold }
  /** No other contender is in its way, but it could not enter at once: its session is to be proved to live, or a rule keeps it out. */
  | { readonly kind: 'first' }
  /** As `first`, where an upgrader may have overlooked it: the data of the intents say whether it may enter. */
  | { readonly kind: 'first if named'; readonly intents: readonly QueueNode[] }
  /** Somebody has removed the contender's node. */
  | { readonly kind: 'removed' }
  | { readonly kind: 'session ended' };

/** The call behind a contender, as its queue needs it. */
export interface Entrant {
  /** Enters in this very turn of the event loop, unless something else keeps it out. */
  tryEnter(): Hold | undefined;
  /** As much is known of who is ahead of the contender as will be before its turn comes near. It may be told of that again. */
  placed(member: QueueMember): void;
  /**
   * Other contenders are in the way of this one.
   * @param first the first of them that is of this process, where that is why it waits
   */
  standsBehind(first?: QueueMember): void;
  /** The contender watches a node of another process, which has these data. */
  waitsFor(data: Uint8Array): void;
  explain(refusal: Refusal): Error;
}

/**
 * - `waits`: its queue says when its turn comes
 * - `called`: its turn has come; it may ask to be looked for again
 * - `holds`: it has entered
 */
type State = 'waits' | 'called' | 'holds';

/** A contender among those of its process. */
export class QueueMember {
  /** Whether a list has come that was asked for behind the create: all contenders that can ever be ahead were in that list. */
  isSeen = false;
  #state: State = 'waits';
  #hold: Hold | undefined;
  #told: Turn | Error | undefined;
  #settle: { readonly resolve: (turn: Turn) => void; readonly reject: (error: Error) => void } | undefined;

  constructor(
    readonly contender: Contender,
    readonly entrant: Entrant,
    private readonly countAhead: (member: QueueMember) => number,
  ) {}

  /** How many contenders are ahead, as far as they are known; 0 where it has to wait for none of them. */
  get ahead(): number {
    return this.countAhead(this);
  }

  get node(): QueueNode {
    return this.contender.queueNode;
  }

  get waits(): boolean {
    return this.#state === 'waits';
  }

  get hold(): Hold | undefined {
    return this.#hold;
  }

  /** Whether no contender behind it can hold together with it. */
  get excludesAll(): boolean {
    return this.node.mode === 'exclusive' || this.node.mode === 'write';
  }

  tell(turn: Turn | Error): void {
    this.#state = 'called';
    if (!(turn instanceof Error) && turn.kind === 'holds') {
      this.#state = 'holds';
      this.#hold = turn.hold;
    }
    const settle = this.#settle;
    this.#settle = undefined;
    if (settle === undefined) this.#told = turn;
    else if (turn instanceof Error) settle.reject(turn);
    else settle.resolve(turn);
  }

  /** @returns the news that is there already, for a call that does not wait */
  told(): Turn | undefined {
    const told = this.#told;
    this.#told = undefined;
    if (told instanceof Error) throw told;
    return told;
  }

  /** Settles with the next news. */
  turn(): Promise<Turn> {
    const told = this.#told;
    this.#told = undefined;
    if (told instanceof Error) return Promise.reject(told);
    if (told !== undefined) return Promise.resolve(told);
    return new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
  }

  waitAgain(): void {
    this.#told = undefined;
    this.#state = 'waits';
    this.isSeen = false;
  }
}

/** The contenders of one process in the queue of one key. */
export class QueueMembers {
  /** In the order of their creation. */
  readonly all: readonly QueueMember[];
  readonly #inOrder: QueueMember[] = [];
  readonly #known: { readonly nodes: readonly QueueNode[] };
  /** The queue as it was counted last: thousands may ask one after the other how many are ahead of them. */
  #numbers: { readonly of: readonly QueueNode[]; readonly numbers: QueueNumbers } | undefined;

  /** @param known the queue as this process knows it */
  constructor(known: { readonly nodes: readonly QueueNode[] }) {
    this.all = this.#inOrder;
    this.#known = known;
  }

  /** A contender has been enqueued. */
  add(contender: Contender, entrant: Entrant): QueueMember {
    const member = new QueueMember(contender, entrant, this.#countAhead);
    // A contender whose answer was lost, and that was found again, comes after some that are behind it in the queue.
    let place = this.all.length;
    while (place > 0 && this.all[place - 1]!.contender.czxid > contender.czxid) place -= 1;
    if (place === this.all.length) this.#inOrder.push(member);
    else this.#inOrder.splice(place, 0, member);
    // Most newcomers stand behind all that were counted; elsewhere a list may have shown their nodes already.
    if (this.#numbers?.numbers.append(member.node) === false) this.#numbers = undefined;
    return member;
  }

  /** @returns whether it was there */
  delete(member: QueueMember): boolean {
    const index = this.all.indexOf(member);
    if (index === -1) return false;
    this.#inOrder.splice(index, 1);
    this.#numbers = undefined;
    return true;
  }

  /** Those of these members that have not left. */
  stillHere(members: readonly QueueMember[]): QueueMember[] {
    const here = new Set(this.all);
    return members.filter((member) => here.has(member));
  }

  /** A contender of this process that one of this mode would have to wait for, if it came now. */
  inTheWayOf(mode: LockMode): QueueMember | undefined {
    return this.all.find(({ node }) => blocks(node.mode, mode));
  }

  /** The nodes that keep this member from entering, as far as they are known. */
  inFrontOf({ node }: QueueMember): readonly QueueNode[] {
    return this.#nodes.filter((other) => other.sequence < node.sequence && blocks(other.mode, node.mode));
  }

  /** The oldest hold of this process in this queue. */
  get holder(): Hold | undefined {
    return this.all.find(({ hold }) => hold !== undefined)?.hold;
  }

  readonly #countAhead = (member: QueueMember): number => {
    const { node } = member;
    const { nodes } = this.#known;
    // Most calls find nobody, and are not to pay for the count.
    if (this.all[0] === member && (nodes[0]?.sequence ?? Infinity) >= node.sequence) return 0;
    if (this.#numbers?.of !== nodes) this.#numbers = { of: nodes, numbers: new QueueNumbers(this.#nodes) };
    return this.#numbers.numbers.countAhead(node);
  };

  get #nodes(): readonly QueueNode[] {
    return [...this.all.map((member) => member.node), ...this.#known.nodes];
  }
}

/** A contender of this process that is being created. */
export class Creation implements Member {
  setIndex = -1;

  constructor(
    readonly queue: KeyQueue,
    readonly request: LockRequest,
    /** The id in the name of its node. */
    readonly id: string,
    private readonly onEnd: (creation: Creation) => void,
  ) {}

  /** Must be called when the contender has joined its queue, or its call gives up. Calling it again does nothing. */
  end(): void {
    this.onEnd(this);
  }
}

/** The numbers of the nodes in a queue, so that those ahead of a node are counted without going through all of them. */
export class QueueNumbers {
  readonly #inOrder: number[];
  /** By mode: the number of the first node that a contender of this mode has to wait for. */
  readonly #firstInTheWay = new Map<LockMode, number>();

  /** @param nodes in any order, and perhaps twice */
  constructor(nodes: readonly QueueNode[]) {
    const byName = new Map(nodes.map((node) => [node.name, node]));
    for (const node of byName.values()) this.#note(node);
    this.#inOrder = [...byName.values()].map(({ sequence }) => sequence).sort((one, other) => one - other);
  }

  /** @returns false, and does nothing, where the node does not stand behind all others */
  append(node: QueueNode): boolean {
    if (node.sequence <= (this.#inOrder.at(-1) ?? -1)) return false;
    this.#inOrder.push(node.sequence);
    this.#note(node);
    return true;
  }

  /** How many are ahead of this node; 0 where none of them keeps it from entering. */
  countAhead({ mode, sequence }: QueueNode): number {
    if ((this.#firstInTheWay.get(mode) ?? Infinity) >= sequence) return 0;
    let [low, high] = [0, this.#inOrder.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#inOrder[middle]! < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #note({ mode, sequence }: QueueNode): void {
    for (const waiting of LOCK_MODES)
      if (blocks(mode, waiting))
        this.#firstInTheWay.set(waiting, Math.min(sequence, this.#firstInTheWay.get(waiting) ?? Infinity));
  }
}
