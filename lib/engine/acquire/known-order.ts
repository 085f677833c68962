import { SessionError } from '../../session/errors.js';
import { get, type GetRequest, type Outcome, type Watcher } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { Contender } from '../contender.js';

/**
 * Whether the newest contender of this process is followed by its next one: the servers number the children of a node one
 * after the other, so nobody else can have come in between, and no list need say so. Numbers begin anew where the node of the
 * key was removed and made again; a watch on it tells of that before any answer that the new one gives.
 */
export class KnownOrder implements Watcher {
  readonly #session: Session;
  readonly #path: string;
  #asked = 0;
  #answered = 0;
  #usedUp = 0;
  #isWatched = false;
  /** The transaction that created the node which is watched. */
  #nodeCzxid = 0n;
  /** The number of the newest contender of this process below that node of which it is known who is ahead. */
  #newest: number | undefined;
  /** Whether that one followed another one of this process: nobody else uses the key now. */
  #isAlone = false;

  constructor(session: Session, queuePath: string) {
    this.#session = session;
    this.#path = queuePath;
  }

  /** Whether the next contender of this process will most likely follow: the last one did. */
  get isUsed(): boolean {
    return this.#isWatched && this.#isAlone;
  }

  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** Whether the watch has been asked for, and may still be answered. */
  get isAsked(): boolean {
    return this.#asked > Math.max(this.#answered, this.#usedUp);
  }

  /** To be sent behind the create of a contender; `answered` takes what came of it. */
  askToWatch(): GetRequest {
    this.#asked += 1;
    return get(this.#path, this);
  }

  /** @param czxid of a contender that was created in front of the question: a node that is older has had it as a child */
  answered(outcome: Outcome<GetRequest>, czxid: bigint): void {
    this.#answered += 1;
    this.#newest = undefined;
    this.#isWatched = false;
    if (outcome instanceof SessionError || outcome.stat.czxid >= czxid || this.#answered <= this.#usedUp) return;
    this.#isWatched = true;
    this.#nodeCzxid = outcome.stat.czxid;
  }

  /** Who is ahead of this contender is known. */
  sees({ queueNode: { sequence }, czxid }: Contender): void {
    // A node of that name was there before, and had numbers of its own.
    if (!this.#isWatched || czxid < this.#nodeCzxid) return;
    if (this.#newest !== undefined && sequence <= this.#newest) return;
    this.#isAlone = this.#newest !== undefined && sequence === this.#newest + 1;
    this.#newest = sequence;
  }

  /** Whether nobody else has come between the newest one that was seen and this one. */
  isFollowedBy({ queueNode: { sequence } }: Contender): boolean {
    return this.#isWatched && this.#newest !== undefined && sequence === this.#newest + 1;
  }

  onWatchEvent(): void {
    this.#isWatched = false;
    this.#newest = undefined;
    this.#usedUp = this.#asked;
  }

  forget(): void {
    if (this.#asked > this.#usedUp) this.#session.unwatch(this.#path, this);
    this.#usedUp = this.#asked;
    this.#isWatched = false;
    this.#newest = undefined;
  }
}
