import { blocks, decideIn, type Decision } from '../../queue/decide.js';
import type { Guard } from '../contender.js';
import type { Blockers } from './blockers.js';
import type { KnownQueue } from './known-queue.js';
import type { QueueMember } from './queue-member.js';

/** The queue is looked at for so many members before their turn; one look covers all that have joined, however many they are. */
const LOOKED_FOR_EARLY = 64;

/** The news that a decision rests on. */
export type Basis =
  | 'a new list'
  /** The nearest contender in the way was removed. */
  | 'a removal'
  /** A member has released a lock that excluded everybody: its node is still there. */
  | 'a hand-over'
  /** A member that would have excluded everybody has given up its wait. Its node may have gone, and then keeps nobody else out. */
  | 'a giving up'
  | 'no news';

/**
 * Members that hold by a hand-over, or that wait for a look first, until the servers have shown that their nodes were there when the
 * node in front of them went.
 */
export class Unconfirmed implements Guard {
  readonly #members = new Set<QueueMember>();

  /** The guard of the removal of the node in front of these members; undefined where there are none. */
  get guard(): Guard | undefined {
    return this.#members.size > 0 ? this : undefined;
  }

  add(member: QueueMember): void {
    this.#members.add(member);
  }

  delete(member: QueueMember): void {
    this.#members.delete(member);
  }

  paths(): readonly string[] {
    return [...this.#members].map(({ contender }) => contender.path);
  }

  confirmed(paths: readonly string[]): void {
    for (const member of this.#members) if (paths.includes(member.contender.path)) this.#members.delete(member);
  }

  missing(path: string): void {
    for (const { contender } of this.#members) if (contender.path === path) contender.node.gone();
  }
}

/** The parts of a queue that its turns need. */
export interface TurnParts {
  /** The members in the order of their creation. */
  readonly members: readonly QueueMember[];
  readonly known: KnownQueue;
  readonly blockers: Blockers;
  /** Whether the session that the members live by is still the newest. */
  readonly isCurrent: () => boolean;
  /** Looks at the queue again, for all that have joined. */
  readonly look: () => void;
}

/** Decides whose turn has come among the contenders of one process, by the rule of the queue, and lets them in. */
export class Turns {
  readonly unconfirmed = new Unconfirmed();
  readonly #parts: TurnParts;
  #isDeciding = false;
  #nextBasis: Basis | undefined;

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /** Goes through the members in their order, as far as anybody's turn can have come. */
  decide(basis: Basis, covered: readonly QueueMember[] = []): void {
    // An event tells of a member that enters, and its listener may release another lock of this queue at once.
    if (this.#isDeciding) {
      const isWeaker =
        this.#nextBasis === 'a hand-over' || (this.#nextBasis === 'a giving up' && basis !== 'a hand-over');
      if (!isWeaker) this.#nextBasis = basis;
      return;
    }
    this.#isDeciding = true;
    try {
      this.#decideOnce(basis, covered);
      while (this.#nextBasis !== undefined) {
        const next = this.#nextBasis;
        this.#nextBasis = undefined;
        this.#decideOnce(next, []);
      }
    } finally {
      this.#isDeciding = false;
    }
  }

  /** The first member ahead of this one that excludes it. */
  inFrontOf(member: QueueMember): QueueMember | undefined {
    for (const ahead of this.#parts.members) {
      if (ahead === member) return undefined;
      if (blocks(ahead.node.mode, member.node.mode)) return ahead;
    }
    return undefined;
  }

  #decideOnce(basis: Basis, covered: readonly QueueMember[]): void {
    const { members, blockers, isCurrent, look } = this.#parts;
    if (!isCurrent()) return;
    let wanted: Set<string> | undefined;
    let mustLook = false;
    for (let index = 0; index < members.length; index += 1) {
      const member = members[index]!;
      if (member.waits && this.inFrontOf(member) === undefined) {
        const watched = this.#call(member, covered.includes(member) ? 'a new list' : basis);
        if (watched !== undefined) (wanted ??= new Set()).add(watched);
        mustLook ||= member.waits && !member.isSeen;
      }
      // A member has left meanwhile, so the loop begins again with the first one.
      if (this.#nextBasis !== undefined) return;
      if (member.excludesAll) break;
    }
    blockers.keepOnly(wanted);
    for (let index = 0; !mustLook && index < members.length && index < LOOKED_FOR_EARLY; index += 1)
      mustLook = members[index]!.waits && !members[index]!.isSeen;
    if (mustLook) look();
  }

  /** @returns the node that the member waits for, if it is watched */
  #call(member: QueueMember, basis: Basis): string | undefined {
    if (!member.isSeen) {
      // The member waits for a look, which may show its node as it was before the one in front of it goes.
      if (basis === 'a hand-over' || basis === 'a giving up') this.unconfirmed.add(member);
      return undefined;
    }
    const decision = decideIn(this.#parts.known.nodesFor(member.node), member.node);
    switch (decision.kind) {
      case 'gone':
        member.contender.node.gone();
        return undefined;
      case 'refuse':
        member.tell(member.entrant.explain(decision.reason));
        return undefined;
      case 'wait':
        member.entrant.standsBehind();
        return this.#waitsFor(member, decision, basis);
      case 'hold if named':
        member.entrant.standsBehind();
        if (basis === 'a new list') member.tell({ kind: 'first if named', intents: decision.intents });
        else member.isSeen = false;
        return undefined;
      case 'hold':
        this.#letEnter(member, basis);
        return undefined;
    }
  }

  #waitsFor(
    member: QueueMember,
    { watch, onlyOneAhead }: Extract<Decision, { kind: 'wait' }>,
    basis: Basis,
  ): string | undefined {
    const { blockers } = this.#parts;
    // Contenders further ahead most likely went before the nearest one did.
    if (basis === 'a removal' && !blockers.has(watch.name)) {
      member.isSeen = false;
      return undefined;
    }
    blockers.watch(watch, member, onlyOneAhead);
    return watch.name;
  }

  /** Nobody ahead is in the member's way. Before it enters, it must be sure that its own node is there. */
  #letEnter(member: QueueMember, basis: Basis): void {
    // A new list shows the node, and so does the watch on it, which has not fired.
    const isShown = basis === 'a new list' || (member.excludesAll && member.contender.node.isWatched);
    // The transaction that removes the node of the member before it will find this member's node there.
    const isGuarded = basis === 'a hand-over';
    const hold = isShown || isGuarded ? member.entrant.tryEnter() : undefined;
    if (hold !== undefined) {
      if (!isShown) this.unconfirmed.add(member);
      member.tell({ kind: 'holds', hold });
    } else if (isShown) member.tell({ kind: 'first' });
    else {
      // Nothing shows the node, so a look comes first, as for a member that was not seen.
      member.isSeen = false;
      if (isGuarded || basis === 'a giving up') this.unconfirmed.add(member);
    }
  }
}
