import { breakingIn, type Intervention } from '../queue/intervention.js';
import { failedWith, SessionError } from '../session/errors.js';
import { get, type GetRequest, type Outcome, type Watcher, type WatchEvent } from '../session/requests.js';
import type { Session, SessionIdentity } from '../session/session.js';

/** A node of this process, with the watch on it, which tells when an operator removes the node, or breaks the lock. */
export class OwnNode implements Watcher {
  readonly path: string;
  #goneListeners: (() => void)[] | undefined;
  #brokenListeners: ((breaking: Intervention) => void)[] | undefined;
  #isGone = false;
  #onChanged: (() => void) | undefined;
  /** The last change of the node's data that was seen. */
  #seenUpTo: bigint | undefined;
  #breaking: Intervention | undefined;
  #isWatched = false;
  #isKept = false;
  /** How many watches were asked for, how many of them were answered, and how many an event has used up, perhaps before the answer. */
  #asked = 0;
  #answered = 0;
  #usedUp = 0;

  constructor(
    private readonly session: Session,
    path: string,
    /** The session that the node lives by. */
    readonly identity: SessionIdentity,
  ) {
    this.path = path;
  }

  /** Whether somebody has removed the node. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Whether a watch would tell of the node's removal: it was there at the newest answer, and no event has come since. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** Calls the listener once, when somebody has removed the node. */
  onGone(listener: () => void): void {
    (this.#goneListeners ??= []).push(listener);
  }

  /** Calls the listener each time that somebody else has written to the node. */
  onChanged(listener: () => void): void {
    this.#onChanged = listener;
  }

  /** Calls the listener once, now or later, when somebody has written into the node that the lock is broken. */
  onBroken(listener: (breaking: Intervention) => void): void {
    if (this.#breaking === undefined) (this.#brokenListeners ??= []).push(listener);
    else listener(this.#breaking);
  }

  /** Makes a read that sets the watch, to be sent with other requests. Its answer goes to `answered`. */
  askToWatch(): GetRequest {
    this.#asked += 1;
    return get(this.path, this);
  }

  answered(outcome: Outcome<GetRequest>): void {
    this.#answered += 1;
    if (failedWith(outcome, 'NO_NODE')) this.gone();
    if (outcome instanceof SessionError) return;
    this.#isWatched = !this.#isGone && this.#answered > this.#usedUp;
    // The data that this process gave the node when it created it need not be parsed.
    const { czxid, mzxid } = outcome.stat;
    if (mzxid === (this.#seenUpTo ?? czxid)) return;
    this.#seenUpTo = mzxid;
    this.#changed(outcome.data);
  }

  #changed(data: Uint8Array): void {
    this.#onChanged?.();
    const breaking = this.#breaking === undefined ? breakingIn(data) : undefined;
    if (breaking === undefined) return;
    this.#breaking = breaking;
    const listeners = this.#brokenListeners ?? [];
    this.#brokenListeners = undefined;
    for (const listener of listeners) listener(breaking);
  }

  /** Keeps the node watched from now on. Called again after a reconnect, it sets the watch that is missing. */
  keepWatched(): void {
    this.#isKept = true;
    if (!this.#isWatched && !this.#isGone) void this.#watch();
  }

  async #watch(): Promise<void> {
    const [outcome] = await this.session.batch([this.askToWatch()]);
    this.answered(outcome);
    // The link is up, so no new link will set the watch again. The answer has come after a pause: there is no busy loop.
    if (failedWith(outcome, 'THROTTLED') && this.#isKept) this.keepWatched();
  }

  onWatchEvent(event: WatchEvent): void {
    this.#isWatched = false;
    this.#usedUp = this.#asked;
    if (event.type === 'deleted') this.gone();
    else if (event.type !== 'lost' && this.#isKept) this.keepWatched();
  }

  /** Must be called when a watch, a list or a refused transaction has shown that somebody has removed the node. */
  gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const listeners = this.#goneListeners ?? [];
    this.#goneListeners = undefined;
    for (const listener of listeners) listener();
  }

  /** Must be called before this process removes the node itself: its listeners need not hear of that. */
  forget(): void {
    this.#isKept = false;
    this.#goneListeners = undefined;
    this.#brokenListeners = undefined;
    this.#onChanged = undefined;
    if (this.#asked > 0 && !this.#isGone) this.session.unwatch(this.path, this);
    this.#isWatched = false;
  }
}
