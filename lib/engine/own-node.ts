import { failedWith, SessionError } from '../session/errors.js';
import { get, type GetRequest, type Outcome, type WatchEvent, type Watcher } from '../session/requests.js';
import type { Session } from '../session/session.js';

/** A node of this process, and the watch on it: an operator, or the lock doctor, may remove it behind its back. */
export class OwnNode implements Watcher {
  readonly path: string;
  readonly #session: Session;
  readonly #goneListeners: (() => void)[] = [];
  #isGone = false;
  #isWatched = false;
  #isKept = false;
  /** How often the watch was asked for, and answered; and how many of these an event has used up, perhaps before its answer was told. */
  #asked = 0;
  #answered = 0;
  #usedUp = 0;

  constructor(session: Session, path: string) {
    this.#session = session;
    this.path = path;
  }

  /** Somebody has removed it. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Its removal would be told: it was there when the newest answer was given, and still is as far as anybody can know. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** Called once, when somebody has removed the node. */
  onGone(listener: () => void): void {
    this.#goneListeners.push(listener);
  }

  /** A read that sets the watch, to be sent with others; `answered` takes what came of it. */
  askToWatch(): GetRequest {
    this.#asked += 1;
    return get(this.path, this);
  }

  answered(outcome: Outcome<GetRequest>): void {
    this.#answered += 1;
    if (failedWith(outcome, 'NO_NODE')) this.gone();
    else if (!(outcome instanceof SessionError)) this.#isWatched = !this.#isGone && this.#answered > this.#usedUp;
  }

  /** From now on the watch is set, and set again whenever it was used up. Called after a reconnect, it sets what is missing. */
  keepWatched(): void {
    this.#isKept = true;
    if (!this.#isWatched && !this.#isGone) void this.#watch();
  }

  async #watch(): Promise<void> {
    const [outcome] = await this.#session.batch([this.askToWatch()]);
    this.answered(outcome);
    // No new link will remind of it, and the answer came after a pause.
    if (failedWith(outcome, 'THROTTLED') && this.#isKept) this.keepWatched();
  }

  onWatchEvent(event: WatchEvent): void {
    this.#isWatched = false;
    this.#usedUp = this.#asked;
    if (event.type === 'deleted') this.gone();
    else if (event.type !== 'lost' && this.#isKept) this.keepWatched();
  }

  /** Somebody has removed it: a watch, a list or a refused transaction has shown it. */
  gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    for (const listener of this.#goneListeners.splice(0)) listener();
  }

  /** It is about to be removed by this process: nobody need be told of that. */
  forget(): void {
    this.#isKept = false;
    this.#goneListeners.length = 0;
    if (this.#asked > 0 && !this.#isGone) this.#session.unwatch(this.path, this);
    this.#isWatched = false;
  }
}
