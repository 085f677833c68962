import type { LockMode } from '../../lock/mode.js';
import { blocks, decideIn, type Decision, readQueue } from '../../queue/decide.js';
import type { QueueNode } from '../../queue/node-name.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import type { Children, Created, GetRequest, Outcome } from '../../session/requests.js';
import type { Session, SessionIdentity } from '../../session/session.js';
import type { Hold } from '../hold/hold.js';
import type { Contender, Guard, Leaving } from '../contender.js';
import type { LinkState } from '../upkeep/link-state.js';
import { listQueue } from '../upkeep/queue-lists.js';
import { Blockers } from './blockers.js';
import { KnownOrder } from './known-order.js';
import { type Entrant, QueueMember, type Turn } from './queue-member.js';
import { refusal } from '../refusal.js';

/** So many members are looked for before their turn; one look covers all that have joined, however many they are. */
const LOOKED_FOR_EARLY = 64;

/** What a decision rests on. */
type Basis =
  | 'a new list'
  /** The nearest one in the way was removed. */
  | 'a removal'
  /** A member has left that excluded everybody, by giving its lock or its place back: its node is still there. */
  | 'a hand-over'
  | 'no news';

/**
 * The contenders of one session in the queue of one key. However many wait, they share one look at the queue, and only the
 * first of them watches a node. A lock that is given back is handed over to the next of them without a round trip: between
 * the two the node of the one that leaves does not count any more. For everybody else it does, until it is removed, which is
 * done in a transaction that finds the node of the next one in its place.
 */
export class KeyQueue implements Guard {
  readonly identity: SessionIdentity;
  readonly #session: Session;
  readonly #link: LinkState;
  readonly #key: string;
  readonly #path: string;
  readonly #handsOver: boolean;
  readonly #onEmpty: () => void;
  readonly #blockers: Blockers;
  readonly #order: KnownOrder;
  /** How many contenders of this process have stood in it. */
  #uses = 0;
  /** In the order of their creation. */
  readonly #members: QueueMember[] = [];
  /** Nodes of members that have left in good order; they may still be there. */
  readonly #departed = new Set<string>();
  /** Members that hold by a hand-over, until the servers have shown that their nodes were there. */
  readonly #unconfirmed = new Set<QueueMember>();
  /** The newest list, without what is known to be gone or departed. Whoever is ahead of a member that was seen is in it. */
  #queue: readonly QueueNode[] = [];
  /** Which change of the children the newest list has seen: lists are told in any order, as promises go. */
  #seenUpTo = -1n;
  #creating = 0;
  #isLooking = false;
  #mustLook = false;
  #isDeciding = false;
  #nextBasis: Basis | undefined;

  constructor(
    session: Session,
    link: LinkState,
    { key, queuePath }: { readonly key: string; readonly queuePath: string },
    handsOver: boolean,
    onEmpty: () => void,
  ) {
    this.identity = session.identity!;
    this.#session = session;
    this.#link = link;
    this.#key = key;
    this.#path = queuePath;
    this.#handsOver = handsOver;
    this.#onEmpty = onEmpty;
    this.#order = new KnownOrder(session, queuePath);
    this.#blockers = new Blockers(session, queuePath, {
      removed: (name) => this.#blockerRemoved(name),
      unknown: () => this.#look(),
      refused: (error, members) => {
        for (const member of members) if (member.waits) member.tell(refusal(error, key));
      },
    });
  }

  get isEmpty(): boolean {
    return this.#members.length === 0 && this.#creating === 0 && !this.#isLooking;
  }

  /** Whether somebody who comes back soon finds the order known, and needs no list. */
  get isWorthKeeping(): boolean {
    return this.#handsOver && this.#isCurrent && (this.#uses === 1 || this.#order.isWatched || this.#order.isAsked);
  }

  /** The first in the queue, as it was seen last. */
  get head(): QueueNode | undefined {
    return this.#queue[0];
  }

  get blockers(): Blockers {
    return this.#blockers;
  }

  /** Reads what the node at the head says of its client, unless this process knows. */
  readHead(): void {
    const { head } = this;
    if (head !== undefined && this.#link.isUp && this.holder === undefined) this.#blockers.read(head.name);
  }

  /**
   * What is to be read behind the create of a newcomer. Alone, it lists the queue at once, which is quickest; where others of
   * this process are, a look is shared, and where the order is known there is nothing to be seen.
   */
  readsBehindCreate(): { readonly lists: boolean; readonly watches: GetRequest | undefined } {
    const watches = this.#handsOver && this.#uses > 0 && !this.#order.isWatched && !this.#order.isAsked;
    return { lists: this.isEmpty && !this.#order.isUsed, watches: watches ? this.#order.askToWatch() : undefined };
  }

  /** A contender of this process is being created. @returns to be called when that has ended */
  creating(): () => void {
    this.#creating += 1;
    return () => {
      this.#creating -= 1;
      this.#tidy();
    };
  }

  /** What came of `readsBehindCreate`. */
  watched(outcome: Outcome<GetRequest>, created: Created | SessionError): void {
    this.#order.answered(outcome, created instanceof SessionError ? 0n : created.stat.czxid);
  }

  /** Nobody of this process will come back. */
  forget(): void {
    this.#order.forget();
  }

  /** One of this process that somebody of this mode would have to wait for, if it came now. */
  inTheWayOf(mode: LockMode): QueueMember | undefined {
    return this.#members.find(({ node }) => blocks(node.mode, mode));
  }

  /** Those that keep this member from entering, as far as they are known. */
  inFrontOf({ node }: QueueMember): readonly QueueNode[] {
    const own = this.#members.map((member) => member.node);
    const known = [...own, ...this.#queue].filter(({ name }) => name !== node.name);
    return known.filter((other) => other.sequence < node.sequence && blocks(other.mode, node.mode));
  }

  /** What this process holds in this queue, the oldest first. */
  get holder(): Hold | undefined {
    return this.#members.find(({ hold }) => hold !== undefined)?.hold;
  }

  /** A contender has taken its place. `listed`: what was asked for behind its create. */
  join(contender: Contender, entrant: Entrant, listed: Children | undefined): QueueMember {
    const member = new QueueMember(contender, entrant);
    this.#uses += 1;
    let index = this.#members.length;
    while (index > 0 && this.#members[index - 1]!.contender.czxid > contender.czxid) index -= 1;
    this.#members.splice(index, 0, member);
    contender.joined((leaving) => this.#leave(member, leaving));
    contender.node.onGone(() => this.#nodeGone(member));
    if (!this.#isCurrent) member.tell({ kind: 'session ended' });
    else if (listed !== undefined) this.#listed(listed, [member]);
    else if (this.#order.isFollowedBy(contender)) this.#joinsKnown(member);
    else this.#decide('no news');
    if (member.waits && this.#isBlocked(member, index)) entrant.standsBehind();
    return member;
  }

  /** Nobody else has come since the newest one that was seen, so who is ahead is known. */
  #joinsKnown(member: QueueMember): void {
    const { contender } = member;
    this.#queue = [...this.#queue, contender.queueNode];
    if (contender.czxid > this.#seenUpTo) this.#seenUpTo = contender.czxid;
    this.#order.sees(contender);
    member.isSeen = true;
    this.#decide('a new list', [member]);
  }

  /** What the member knew may be out of date: its turn comes with another look. */
  lookAgain(member: QueueMember): void {
    member.waitAgain();
    if (!this.#isCurrent) member.tell({ kind: 'session ended' });
    // Its queue was told of the removal while the member did not wait, and is told once.
    else if (member.contender.node.isGone) member.tell({ kind: 'removed' });
    else this.#look();
  }

  /** The link is back, with the same session: one look shows what has happened meanwhile. */
  reconnected(): void {
    if (this.#mustLook || this.#blockers.isWatching) this.#look();
  }

  /** Nobody's turn comes any more. */
  end(turn: Turn | Error): void {
    for (const member of [...this.#members]) if (member.waits) member.tell(turn);
  }

  paths(): readonly string[] {
    return [...this.#unconfirmed].map(({ contender }) => contender.path);
  }

  confirmed(paths: readonly string[]): void {
    for (const member of this.#unconfirmed) if (paths.includes(member.contender.path)) this.#unconfirmed.delete(member);
  }

  missing(path: string): void {
    for (const { contender } of this.#unconfirmed) if (contender.path === path) contender.node.gone();
  }

  get #isCurrent(): boolean {
    return this.#session.identity === this.identity;
  }

  #stillHere(members: readonly QueueMember[]): QueueMember[] {
    const here = new Set(this.#members);
    return members.filter((member) => here.has(member));
  }

  #isBlocked({ node }: QueueMember, index: number): boolean {
    for (let ahead = 0; ahead < index; ahead += 1) if (blocks(this.#members[ahead]!.node.mode, node.mode)) return true;
    return false;
  }

  #leave(member: QueueMember, leaving: Leaving): Guard | undefined {
    const index = this.#members.indexOf(member);
    if (index === -1) return undefined;
    this.#members.splice(index, 1);
    this.#unconfirmed.delete(member);
    // Whose lock was lost is in the way until its node is gone, as a node of somebody else is.
    const isDeparted = leaving === 'given back' && this.#handsOver;
    if (isDeparted) {
      this.#departed.add(member.contender.name);
      this.#forget(member.contender.name);
    }
    this.#decide(isDeparted && member.excludesAll ? 'a hand-over' : 'no news');
    this.#tidy();
    return this.#unconfirmed.size > 0 ? this : undefined;
  }

  #nodeGone(member: QueueMember): void {
    this.#forget(member.contender.name);
    if (member.waits) member.tell({ kind: 'removed' });
  }

  #blockerRemoved(name: string): void {
    this.#forget(name);
    this.#decide('a removal');
  }

  #forget(name: string): void {
    if (this.#queue.some((node) => node.name === name)) this.#queue = this.#queue.filter((node) => node.name !== name);
  }

  /** One look at a time: who joins meanwhile is covered by the next. */
  #look(): void {
    this.#mustLook = true;
    if (this.#isLooking || !this.#link.isUp || !this.#isCurrent) return;
    this.#mustLook = false;
    this.#isLooking = true;
    const covered = [...this.#members];
    void this.#session.batch([listQueue(this.#path)]).then(([listed]) => {
      this.#isLooking = false;
      if (this.#isCurrent) this.#looked(listed, covered);
      this.#tidy();
    });
  }

  #looked(listed: Children | SessionError, covered: readonly QueueMember[]): void {
    if (!(listed instanceof SessionError)) this.#listed(listed, covered);
    // Without a parent there are no contenders either.
    else if (failedWith(listed, 'NO_NODE')) for (const { contender } of this.#stillHere(covered)) contender.node.gone();
    else if (isAboutTheLink(listed)) this.#look();
    else for (const member of covered) if (member.waits) member.tell(refusal(listed, this.#key));
    if (this.#mustLook) this.#look();
  }

  /** @param covered those that had taken their places when the list was asked for */
  #listed({ children, stat }: Children, covered: readonly QueueMember[]): void {
    if (stat.pzxid >= this.#seenUpTo) {
      this.#seenUpTo = stat.pzxid;
      const queue = readQueue(children);
      const names = new Set(queue.map(({ name }) => name));
      for (const name of this.#departed) if (!names.has(name)) this.#departed.delete(name);
      this.#queue = this.#departed.size === 0 ? queue : queue.filter(({ name }) => !this.#departed.has(name));
      for (const member of this.#stillHere(covered)) {
        if (names.has(member.contender.name)) this.#unconfirmed.delete(member);
        else member.contender.node.gone();
      }
    }
    for (const member of covered) {
      member.isSeen = true;
      this.#order.sees(member.contender);
    }
    this.#decide('a new list', covered);
  }

  /** Goes through the members in their order, as far as anybody's turn can have come. */
  #decide(basis: Basis, covered: readonly QueueMember[] = []): void {
    // Who enters is told of as an event, and who hears of it may give a lock back at once.
    if (this.#isDeciding) {
      if (this.#nextBasis !== 'a hand-over') this.#nextBasis = basis;
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

  #decideOnce(basis: Basis, covered: readonly QueueMember[]): void {
    if (!this.#isCurrent) return;
    const wanted = new Set<string>();
    let mustLook = false;
    for (let index = 0; index < this.#members.length; index += 1) {
      const member = this.#members[index]!;
      if (member.waits && !this.#isBlocked(member, index)) {
        const watched = this.#call(member, covered.includes(member) ? 'a new list' : basis);
        if (watched !== undefined) wanted.add(watched);
        mustLook ||= member.waits && !member.isSeen;
      }
      if (this.#nextBasis !== undefined) return;
      if (member.excludesAll) break;
    }
    this.#blockers.keepOnly(wanted);
    mustLook ||= this.#members.slice(0, LOOKED_FOR_EARLY).some(({ waits, isSeen }) => waits && !isSeen);
    if (mustLook) this.#look();
  }

  /** @returns the node that it waits for, if it is watched */
  #call(member: QueueMember, basis: Basis): string | undefined {
    if (!member.isSeen) return undefined;
    const decision = decideIn(this.#queue, member.node);
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
        this.#letIn(member, basis);
        return undefined;
    }
  }

  #waitsFor(
    member: QueueMember,
    { watch, onlyOneAhead }: Extract<Decision, { kind: 'wait' }>,
    basis: Basis,
  ): string | undefined {
    // Of several ahead, those further ahead most likely went before the nearest did.
    if (basis === 'a removal' && !this.#blockers.has(watch.name)) {
      member.isSeen = false;
      return undefined;
    }
    this.#blockers.watch(watch.name, member, onlyOneAhead);
    return watch.name;
  }

  /**
   * Nobody ahead is in its way. That its own node is there is shown by a new list, by the watch on it, or will be by the
   * transaction that removes the node of the one before it; where none of these does, it is looked for first.
   */
  #letIn(member: QueueMember, basis: Basis): void {
    const isShown = basis === 'a new list' || (member.excludesAll && member.contender.node.isWatched);
    const isGuarded = basis === 'a hand-over' && !this.#mayBeOverlooked(member);
    const hold = isShown || isGuarded ? member.entrant.tryEnter() : undefined;
    if (hold !== undefined) {
      if (!isShown) this.#unconfirmed.add(member);
      member.tell({ kind: 'holds', hold });
    } else if (isShown) member.tell({ kind: 'first' });
    else member.isSeen = false;
  }

  /** An upgrader ahead of a reader may have put up an intent since the queue was listed. */
  #mayBeOverlooked({ node }: QueueMember): boolean {
    return node.mode === 'read' && this.#queue.some(({ mode }) => mode === 'upgradeable');
  }

  #tidy(): void {
    if (!this.isEmpty) return;
    this.#blockers.keepOnly(new Set());
    this.#onEmpty();
  }
}
