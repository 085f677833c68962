import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import type { Children } from '../../session/requests.js';
import type { Session, SessionIdentity } from '../../session/session.js';
import { IndexedSet } from '../collections.js';
import type { Contender, Guard, Leaving, LockRequest } from '../contender.js';
import { refusal } from '../error-texts.js';
import type { LinkState } from '../upkeep/link-state.js';
import { listQueue } from '../upkeep/key-nodes.js';
import { Blockers } from './blockers.js';
import { KnownOrder, KnownQueue, type WatchQuestion } from './known-queue.js';
import { type Creation, type Entrant, type QueueMember, QueueMembers, type Turn } from './queue-member.js';
import { Turns } from './turns.js';

/**
 * The contenders of one session in the queue of one key. However many wait, they share one look at the queue, and only the
 * first of them watches a node. A lock that excludes all others is handed over to the next of them without a round trip: between the
 * two the node of the one that leaves does not count any more. For all others it does, until it is removed, which is done in a
 * transaction that finds the node of the next one in its place.
 */
export class KeyQueue {
  readonly identity: SessionIdentity;
  readonly blockers: Blockers;
  readonly known = new KnownQueue();
  readonly members = new QueueMembers(this.known);
  readonly #session: Session;
  readonly #link: LinkState;
  readonly #key: string;
  readonly #path: string;
  readonly #onEmpty: () => void;
  readonly #order: KnownOrder;
  readonly #turns: Turns;
  /** How many contenders of this process have stood in this queue. */
  #uses = 0;
  /** The contenders of this process that are being created. */
  readonly #creating = new IndexedSet<Creation>();
  #usesRecord = false;
  /** When this process last heard that a contender had gone. */
  #goneAt: number | undefined;
  #isLooking = false;
  #mustLook = false;

  constructor(
    session: Session,
    link: LinkState,
    { key, queuePath }: { readonly key: string; readonly queuePath: string },
    onEmpty: () => void,
  ) {
    this.identity = session.identity!;
    this.#session = session;
    this.#link = link;
    this.#key = key;
    this.#path = queuePath;
    this.#onEmpty = onEmpty;
    this.#order = new KnownOrder(session, queuePath, this.known);
    this.blockers = new Blockers(session, queuePath, {
      removed: (name, wasHolder) => {
        this.#goneAt = this.#session.clock.now();
        if (wasHolder) this.known.releasedBy(name);
        else this.known.removed(name);
        this.#turns.decide('a removal');
      },
      unknown: () => this.#look(),
      refused: (error, members) => this.#refuse(error, members),
    });
    this.#turns = new Turns({
      members: this.members.all,
      known: this.known,
      blockers: this.blockers,
      isCurrent: () => this.#isCurrent,
      look: () => this.#look(),
    });
  }

  get isEmpty(): boolean {
    return this.members.all.length === 0 && this.#creating.isEmpty && !this.#isLooking;
  }

  /** Whether contenders of this queue use the record of the key, or one is there: then everybody reads it before it enters. */
  get hasRecord(): boolean {
    return this.#usesRecord || this.known.hasRecord;
  }

  /**
   * Whether a lock may be handed over inside this process: not where the next one has to read what the one before it left in the record,
   * nor where no transaction can remove the node of the one that leaves only while the node of the next one is there.
   */
  get #handsOver(): boolean {
    return this.#session.hasMultis && !this.hasRecord;
  }

  /** Whether the next contender of this process, if it comes soon, finds the order known and needs no list. */
  get isWorthKeeping(): boolean {
    return this.#handsOver && this.#isCurrent && (this.#uses === 1 || this.#order.isWatched || this.#order.isAsked);
  }

  /** Reads what the node at the head says of its client, unless this process knows. */
  readHead(): void {
    const { head } = this.known;
    if (head !== undefined && this.#link.isUp && this.members.holder === undefined) this.blockers.read(head.name);
  }

  /** Says what is to be read behind the create of a newcomer. */
  readsBehindCreate(
    { usesRecord }: Pick<LockRequest, 'usesRecord'>,
    createsMany: boolean,
  ): { readonly lists: boolean; readonly watches: WatchQuestion | undefined } {
    // Alone, it lists the queue at once, which is quickest unless many are being created. Where others of this process are, a look
    // is shared, and where the order is known there is nothing to be seen. Where a record is used, everybody looks.
    const knowsOrder = this.#handsOver && !usesRecord;
    const watches = knowsOrder && this.#uses > 0 && !this.#order.isWatched && !this.#order.isAsked;
    const lists = this.isEmpty && !(knowsOrder && this.#order.isUsed) && !createsMany;
    return { lists, watches: watches ? this.#order.askToWatch() : undefined };
  }

  begun(creation: Creation): void {
    this.#creating.add(creation);
  }

  /** @returns whether that is news */
  ended(creation: Creation): boolean {
    if (!this.#creating.delete(creation)) return false;
    this.#tidy();
    return true;
  }

  /** The contenders of this process: in their order, and then those that are being created. */
  *contenders(): Generator<Contender | Creation> {
    for (const { contender } of this.members.all) yield contender;
    yield* this.#creating.all();
  }

  /** The queue is not kept any more: no contender of this process will come back to it. */
  forget(): void {
    this.#order.forget();
  }

  /** How long ago the news came that the one in front had gone; undefined where it may have gone before that was seen. */
  sinceGoneMs(now: number): number | undefined {
    return this.#goneAt === undefined ? undefined : now - this.#goneAt;
  }

  /** A contender is enqueued. `listed`: the list that was asked for behind its create. */
  join(contender: Contender, entrant: Entrant, listed: Children | undefined): QueueMember {
    const member = this.members.add(contender, entrant);
    this.#usesRecord ||= contender.request.usesRecord;
    this.#uses += 1;
    contender.joined((leaving) => this.#leave(member, leaving));
    contender.node.onGone(() => {
      this.known.removed(contender.name);
      if (member.waits) member.tell({ kind: 'removed' });
    });
    // Who stands behind a contender of its own process watches nothing. Whoever removes such waiters writes to the node ahead.
    contender.node.onChanged(() => {
      if (this.members.all.some(({ waits }) => waits)) this.#look();
    });
    if (!this.#isCurrent) member.tell({ kind: 'session ended' });
    else if (listed !== undefined) this.#listed(listed, [member]);
    else if (this.#handsOver && this.#order.isFollowedBy(contender)) this.#joinsKnown(member);
    else this.#turns.decide('no news');
    if (this.#isCurrent && !this.#willLook) entrant.placed(member);
    // Those that were created later may have joined sooner, and stand behind this one as well.
    for (let index = Math.max(0, this.members.all.indexOf(member)); index < this.members.all.length; index += 1) {
      const each = this.members.all[index]!;
      const first = each.waits ? this.#turns.inFrontOf(each) : undefined;
      if (first !== undefined) each.entrant.standsBehind(first);
    }
    return member;
  }

  /** Nobody else has come since the newest contender that was seen, so who is ahead of this one is known. */
  #joinsKnown(member: QueueMember): void {
    const { contender } = member;
    this.known.append(contender);
    this.#order.sees(contender);
    member.isSeen = true;
    member.entrant.placed(member);
    this.#turns.decide('a new list', [member]);
  }

  /** What the member was told may be out of date: its turn comes with another look. */
  lookAgain(member: QueueMember): void {
    member.waitAgain();
    if (!this.#isCurrent) member.tell({ kind: 'session ended' });
    // The removal was told while the member did not wait, and is told once.
    else if (member.contender.node.isGone) member.tell({ kind: 'removed' });
    else this.#look();
  }

  /** The link is back, with the same session: one look shows what has happened meanwhile. */
  reconnected(): void {
    this.#goneAt = undefined;
    if (this.#mustLook || this.blockers.isWatching) this.#look();
  }

  /** The turn of nobody here comes any more. */
  end(turn: Turn | Error): void {
    for (const member of [...this.members.all]) if (member.waits) member.tell(turn);
  }

  get #isCurrent(): boolean {
    return this.#session.identity === this.identity;
  }

  /** Whether a look is under way, or goes out when the link is back. */
  get #willLook(): boolean {
    return this.#isLooking || this.#mustLook;
  }

  #leave(member: QueueMember, how: Leaving): Guard | undefined {
    // A node that somebody has removed keeps nobody out, and those behind it may have been removed as well.
    const leaving = member.contender.node.isGone ? 'lost' : how;
    if (!this.members.delete(member)) return undefined;
    this.#turns.unconfirmed.delete(member);
    this.#goneAt = this.#session.clock.now();
    // A contender that lost its lock is in the way until its node is gone, as a node of another process is. So is one that lets
    // others in beside it: its node, which is still there, would not keep everybody out if somebody removed the next one's.
    const isDeparted = leaving === 'departed' && this.#handsOver && member.excludesAll;
    if (isDeparted) this.known.departed(member.node, member.hold !== undefined);
    this.#turns.decide(!isDeparted ? 'no news' : member.hold !== undefined ? 'a hand-over' : 'a giving up');
    if (this.known.remembersTooMuch) this.#look();
    this.#tidy();
    return this.#turns.unconfirmed.guard;
  }

  /** Lists the queue, one look at a time: a contender that joins meanwhile is covered by the next. */
  #look(): void {
    this.#mustLook = true;
    if (this.#isLooking || !this.#link.isUp || !this.#isCurrent) return;
    this.#mustLook = false;
    this.#isLooking = true;
    const covered = [...this.members.all];
    void this.#session.batch([listQueue(this.#path)]).then(([listed]) => {
      this.#isLooking = false;
      if (this.#isCurrent) this.#looked(listed, covered);
      this.#tidy();
    });
  }

  #looked(listed: Children | SessionError, covered: readonly QueueMember[]): void {
    if (!(listed instanceof SessionError)) {
      this.#listed(listed, covered);
      // Nobody looks for those far behind before the queue moves on, so what is known by now of who is ahead of them is told.
      if (!this.#willLook) for (const member of [...this.members.all]) member.entrant.placed(member);
    }
    // Where the node of the key is gone, its contenders are gone too.
    else if (failedWith(listed, 'NO_NODE'))
      for (const { contender } of this.members.stillHere(covered)) contender.node.gone();
    else if (isAboutTheLink(listed)) this.#look();
    else this.#refuse(listed, covered);
    if (this.#mustLook) this.#look();
  }

  #refuse(error: SessionError, members: readonly QueueMember[]): void {
    for (const member of members) if (member.waits) member.tell(refusal(error, this.#key));
  }

  /** @param covered the members that were enqueued when the list was asked for */
  #listed(listed: Children, covered: readonly QueueMember[]): void {
    const names = this.known.listed(listed);
    const here = this.members.stillHere(covered);
    for (const member of names === undefined ? [] : here) {
      if (!names!.has(member.contender.name)) member.contender.node.gone();
      // A list that still shows the node in front of it may be older than the removal of both.
      else if (!this.known.hasDeparted) this.#turns.unconfirmed.delete(member);
    }
    for (const member of covered) {
      member.isSeen = true;
      this.#order.sees(member.contender);
    }
    for (const member of here) if (!member.contender.node.isGone) member.entrant.placed(member);
    this.#turns.decide('a new list', covered);
  }

  #tidy(): void {
    if (!this.isEmpty) return;
    this.blockers.keepOnly(undefined);
    this.#onEmpty();
  }
}
