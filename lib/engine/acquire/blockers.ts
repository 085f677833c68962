import { type QueueNode, releaseMark } from '../../queue/node-name.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import {
  exists,
  get,
  type GetRequest,
  type NodeData,
  type Outcome,
  type Watcher,
  type WatchEvent,
} from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { QueueMember } from './queue-member.js';

/** Hears what becomes of the nodes that are watched. */
export interface BlockersListener {
  /** @param wasHolder whether its contender held the lock and has released it, so that nobody is left who was ahead of it */
  removed(name: string, wasHolder: boolean): void;
  /** The node may have changed while nothing watched it: the queue must be looked at again. */
  unknown(): void;
  refused(error: SessionError, members: readonly QueueMember[]): void;
}

class BlockerWatch implements Watcher {
  readonly members = new Set<QueueMember>();
  /** Watches for the mark that a holder leaves when it releases its lock. It is told of that before the removal of the node. */
  readonly mark = { onWatchEvent: ({ type }: WatchEvent): void => void (this.wasHolder ||= type === 'created') };
  wasHolder = false;
  #isAnswered = false;
  #event: WatchEvent | undefined;

  /** @param markPath undefined where the mark is not watched for */
  constructor(
    readonly markPath: string | undefined,
    private readonly onChange: (event: WatchEvent) => void,
  ) {}

  onWatchEvent(event: WatchEvent): void {
    if (this.#isAnswered) this.onChange(event);
    else this.#event ??= event;
  }

  answered(): void {
    // An event is told while answers are read, which is before the callers that await the answers go on.
    this.#isAnswered = true;
    if (this.#event !== undefined) this.onChange(this.#event);
  }
}

/** The nodes of other processes that the first members of a queue wait for, each with one watch. */
export class Blockers {
  readonly #session: Session;
  readonly #queuePath: string;
  readonly #listener: BlockersListener;
  readonly #watches = new Map<string, BlockerWatch>();
  /** The data of the nodes, as they were read with the watch: they tell who holds the lock. */
  readonly #read = new Map<string, NodeData>();

  constructor(session: Session, queuePath: string, listener: BlockersListener) {
    this.#session = session;
    this.#queuePath = queuePath;
    this.#listener = listener;
  }

  get isWatching(): boolean {
    return this.#watches.size > 0;
  }

  has(name: string): boolean {
    return this.#watches.has(name);
  }

  dataOf(name: string): NodeData | undefined {
    return this.#read.get(name);
  }

  /** @param alone whether nobody else is ahead of the member */
  watch({ name, mode, ours }: QueueNode, member: QueueMember, alone: boolean): void {
    const { contender, excludesAll } = member;
    contender.hasWaited = true;
    const known = this.#watches.get(name);
    if (known !== undefined) {
      if (known.members.has(member)) return;
      known.members.add(member);
      const read = this.#read.get(name);
      if (read !== undefined) member.entrant.waitsFor(read.data);
      return;
    }
    const path = `${this.#queuePath}/${name}`;
    // With others ahead, a removal alone does not say whose turn has come. A contender that lets others in beside it leaves no mark,
    // nor does a client of another make.
    const leavesMark = ours && (mode === 'exclusive' || mode === 'write');
    const markPath = leavesMark && excludesAll && !alone ? releaseMark(path) : undefined;
    const watch: BlockerWatch = new BlockerWatch(markPath, (event) => this.#changed(name, watch, event));
    watch.members.add(member);
    this.#watches.set(name, watch);
    // The member may enter without a list when this node goes, so it must know then that its own is still there.
    const asksForOwn = (alone || markPath !== undefined) && !contender.node.isWatched;
    const requests = [
      ...(asksForOwn ? [contender.node.askToWatch()] : []),
      ...(markPath === undefined ? [] : [exists(markPath, watch.mark)]),
      get(path, watch),
    ];
    void this.#session.batch(requests).then((outcomes) => {
      if (asksForOwn) contender.node.answered(outcomes[0] as Outcome<GetRequest>);
      this.#answered(name, watch, outcomes.at(-1) as Outcome<GetRequest>);
    });
  }

  /** Takes the watches off all other nodes. */
  keepOnly(wanted: ReadonlySet<string> | undefined): void {
    for (const [name, watch] of this.#watches) {
      if (wanted?.has(name) === true) continue;
      this.#watches.delete(name);
      this.#read.delete(name);
      this.#session.unwatch(`${this.#queuePath}/${name}`, watch);
      this.#unwatchMark(watch);
    }
  }

  /** Reads a node for the error of a call whose time is nearly up: once, however many calls ask. */
  read(name: string): void {
    if (this.#read.has(name)) return;
    for (const known of this.#read.keys()) if (!this.#watches.has(known)) this.#read.delete(known);
    void this.#session.batch([get(`${this.#queuePath}/${name}`)]).then(([found]) => this.#remember(name, found));
  }

  #answered(name: string, watch: BlockerWatch, outcome: Outcome<GetRequest>): void {
    if (this.#watches.get(name) !== watch) return;
    if (!(outcome instanceof SessionError)) {
      this.#remember(name, outcome);
      for (const { entrant } of watch.members) entrant.waitsFor(outcome.data);
      watch.answered();
      return;
    }
    this.#watches.delete(name);
    this.#unwatchMark(watch);
    if (failedWith(outcome, 'NO_NODE') || isAboutTheLink(outcome)) this.#listener.unknown();
    else this.#listener.refused(outcome, [...watch.members]);
  }

  #changed(name: string, watch: BlockerWatch, { type }: WatchEvent): void {
    if (this.#watches.get(name) !== watch) return;
    this.#watches.delete(name);
    this.#read.delete(name);
    this.#unwatchMark(watch);
    if (type === 'deleted') this.#listener.removed(name, watch.wasHolder);
    // Otherwise somebody has written to the node, which uses the watch up. A watch is lost with its session, of which the members
    // are told already.
    else if (type !== 'lost') this.#listener.unknown();
  }

  #unwatchMark({ markPath, mark, wasHolder }: BlockerWatch): void {
    if (markPath !== undefined && !wasHolder) this.#session.unwatch(markPath, mark);
  }

  #remember(name: string, found: NodeData | SessionError): void {
    if (!(found instanceof SessionError)) this.#read.set(name, found);
  }
}
