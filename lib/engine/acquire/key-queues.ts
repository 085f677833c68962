import type { Session } from '../../session/session.js';
import type { LockRequest } from '../contender.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { LinkState } from '../upkeep/link-state.js';
import { KeyQueue } from './key-queue.js';
import { Creation } from './queue-member.js';

/** An empty queue, and what is known of it, is kept for so long after the last contender of this process has left. */
const KEPT_FOR_MS = 2_000;
/** At most this many empty queues are kept; the oldest are forgotten first. */
const MAX_KEPT = 1_000;

/**
 * From so many creates under way on, a list goes behind the answer of its create, and not behind the create. A server of several
 * answers a read that stands behind a write of its own session later; with fewer under way the round trip that this saves counts for more.
 */
const MANY_CREATES = 16;

/** The queues in which this process has contenders, or had some a moment ago. */
export class KeyQueues {
  readonly #session: Session;
  readonly #link: LinkState;
  readonly #timers: Timers;
  readonly #queues = new Map<string, KeyQueue>();
  /** The paths of the queues that are empty, each with the time at which it is forgotten, the oldest first. */
  readonly #kept = new Map<string, number>();
  #timer: PendingTimer | undefined;
  #creates = 0;
  readonly #onCreated = (creation: Creation): void => {
    if (creation.queue.ended(creation)) this.#creates -= 1;
  };

  constructor(session: Session, link: LinkState, timers: Timers) {
    this.#session = session;
    this.#link = link;
    this.#timers = timers;
    link.onChange('contenders', (state) => {
      for (const [path, queue] of [...this.#queues]) {
        if (queue.identity === session.identity) {
          if (link.isUp) queue.reconnected();
          continue;
        }
        this.#drop(path, queue);
        queue.end(state === 'closed' ? link.closedError() : { kind: 'session ended' });
      }
    });
  }

  /** The queue of a key in the session that there is now. */
  of(key: { readonly key: string; readonly queuePath: string }): KeyQueue {
    const path = key.queuePath;
    const known = this.find(path);
    if (known !== undefined) {
      this.#kept.delete(path);
      return known;
    }
    const queue: KeyQueue = new KeyQueue(this.#session, this.#link, key, () => this.#emptied(path, queue));
    this.#queues.set(path, queue);
    return queue;
  }

  /** A contender is being created in this queue. */
  creating(queue: KeyQueue, request: LockRequest, id: string): Creation {
    const creation = new Creation(queue, request, id, this.#onCreated);
    this.#creates += 1;
    queue.begun(creation);
    return creation;
  }

  /** Whether so many contenders are being created that lists better wait for the answers. */
  get createsMany(): boolean {
    return this.#creates >= MANY_CREATES;
  }

  /** Does what `of` does, and makes no queue where there is none. */
  find(queuePath: string): KeyQueue | undefined {
    const queue = this.#queues.get(queuePath);
    return queue?.identity === this.#session.identity ? queue : undefined;
  }

  #emptied(path: string, queue: KeyQueue): void {
    // A queue of a session that has ended was dropped before its last contender left.
    if (this.#queues.get(path) !== queue) return;
    // Without a link no watch tells what changes in the queue.
    if (!queue.isWorthKeeping || !this.#link.isUp) return this.#drop(path, queue);
    // A `Map` keeps the order of insertion: taken out and put in again, this queue is the newest.
    this.#kept.delete(path);
    this.#kept.set(path, this.#session.clock.now() + KEPT_FOR_MS);
    if (this.#timer === undefined || this.#kept.size > MAX_KEPT) this.#forgetOldest();
  }

  #forgetOldest(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const now = this.#session.clock.now();
    for (const [path, at] of this.#kept) {
      // All are kept for the same time, so behind the first one that stays all others stay, too: one timer is enough.
      if (at > now && this.#kept.size <= MAX_KEPT) {
        this.#timer = this.#timers.set(at, () => this.#forgetOldest());
        return;
      }
      this.#drop(path, this.#queues.get(path)!);
    }
  }

  #drop(path: string, queue: KeyQueue): void {
    this.#kept.delete(path);
    this.#queues.delete(path);
    queue.forget();
    if (this.#kept.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
