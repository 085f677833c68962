import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import {
  get,
  type GetRequest,
  type NodeData,
  type Outcome,
  type Watcher,
  type WatchEvent,
} from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { QueueMember } from './queue-member.js';

/** Is told what becomes of the nodes that are watched. */
export interface BlockersListener {
  removed(name: string): void;
  /** The node may have changed while nothing watched it: the queue must be looked at again. */
  unknown(): void;
  refused(error: SessionError, members: readonly QueueMember[]): void;
}

class BlockerWatch implements Watcher {
  readonly members = new Set<QueueMember>();
  #isAnswered = false;
  #event: WatchEvent | undefined;

  constructor(private readonly onChange: (event: WatchEvent) => void) {}

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

  /** @param alone whether nobody else is ahead, so that the member may enter as soon as this node is removed and its own is there */
  watch(name: string, member: QueueMember, alone: boolean): void {
    const known = this.#watches.get(name);
    if (known !== undefined) {
      known.members.add(member);
      return;
    }
    const path = `${this.#queuePath}/${name}`;
    const watch = new BlockerWatch((event) => this.#changed(name, watch, event));
    watch.members.add(member);
    this.#watches.set(name, watch);
    const { node } = member.contender;
    const asksForOwn = alone && !node.isWatched;
    const requests = asksForOwn ? [node.askToWatch(), get(path, watch)] : [get(path, watch)];
    void this.#session.batch(requests).then((outcomes) => {
      if (asksForOwn) node.answered(outcomes[0]!);
      this.#answered(name, watch, outcomes.at(-1)!);
    });
  }

  /** Takes the watches off all other nodes. */
  keepOnly(wanted: ReadonlySet<string>): void {
    for (const [name, watch] of this.#watches) {
      if (wanted.has(name)) continue;
      this.#watches.delete(name);
      this.#read.delete(name);
      this.#session.unwatch(`${this.#queuePath}/${name}`, watch);
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
      watch.answered();
      return;
    }
    this.#watches.delete(name);
    if (failedWith(outcome, 'NO_NODE') || isAboutTheLink(outcome)) this.#listener.unknown();
    else this.#listener.refused(outcome, [...watch.members]);
  }

  #changed(name: string, watch: BlockerWatch, { type }: WatchEvent): void {
    if (this.#watches.get(name) !== watch) return;
    this.#watches.delete(name);
    this.#read.delete(name);
    if (type === 'deleted') this.#listener.removed(name);
    // Otherwise somebody has written to the node, which uses the watch up. A watch is lost with its session, of which the members
    // are told already.
    else if (type !== 'lost') this.#listener.unknown();
  }

  #remember(name: string, found: NodeData | SessionError): void {
    // The bytes are a part of all that was received together, which must not be kept: so this is a copy.
    if (!(found instanceof SessionError)) this.#read.set(name, { stat: found.stat, data: found.data.slice() });
  }
}
