import type { AcquireOptions } from '../../lock/acquire-options.js';
import type { LockMode } from '../../lock/mode.js';
import { failedWith, SessionError } from '../../session/errors.js';
import {
  get,
  type GetRequest,
  type MultiPart,
  type Outcome,
  type WatchEvent,
  type Watcher,
} from '../../session/requests.js';
import type { Session, SessionIdentity } from '../../session/session.js';

/** One call for one key. */
export interface LockRequest {
  readonly key: string;
  /** Where its contenders queue: the key under the namespace. */
  readonly queuePath: string;
  readonly mode: LockMode;
  /** The logical caller, as its contender tells. */
  readonly owner: string;
  readonly options: AcquireOptions;
  readonly askedAt: number;
}

/** A contender that stands in a queue: its node, and the session it lives by. */
export interface Place {
  /** What its name carries, and an upgrade's intent shares. */
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly czxid: bigint;
  readonly session: SessionIdentity;
  readonly ownWatch: OwnWatch;
  readonly lockDelay: LockDelayProgress;
}

/** How far a contender has come with the lock-delay. */
export interface LockDelayProgress {
  /** The holder that vanished, and whose delay has passed. */
  waitedFor?: string;
  /** What belongs into the transaction that removes a contender which does not get to hold. */
  onGiveUp?: Promise<readonly MultiPart[]>;
}

/** A watch on a contender's own node: who removes it (an operator, the lock doctor) ends the wait or the hold. */
export class OwnWatch implements Watcher {
  readonly #path: string;
  /** Told once, when the node is gone. */
  onGone: (() => void) | undefined;
  /** Told when a change of the node (somebody has written to it) has used the watch up: it must be set again. */
  onUsedUp: (() => void) | undefined;
  isSet = false;
  isGone = false;
  /** How often it was asked for, and answered; and how many of these an event has used up, perhaps before its answer was told. */
  #asked = 0;
  #answered = 0;
  #usedUp = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** To be sent with others; `answered` tells what came of it. */
  ask(): GetRequest {
    this.#asked += 1;
    return get(this.#path, this);
  }

  answered(outcome: Outcome<GetRequest>): void {
    this.#answered += 1;
    if (failedWith(outcome, 'NO_NODE')) this.#gone();
    else if (!(outcome instanceof SessionError)) this.isSet = !this.isGone && this.#answered > this.#usedUp;
  }

  onWatchEvent(event: WatchEvent): void {
    this.isSet = false;
    this.#usedUp = this.#asked;
    if (event.type === 'deleted') this.#gone();
    else if (event.type !== 'lost') this.onUsedUp?.();
  }

  /** Before the node is removed by its owner: nobody need be told of that. */
  takeBack(session: Session): void {
    this.onGone = undefined;
    this.onUsedUp = undefined;
    if (this.#asked > 0 && !this.isGone) session.unwatch(this.#path, this);
    this.isSet = false;
  }

  #gone(): void {
    this.isGone = true;
    this.onGone?.();
  }
}
