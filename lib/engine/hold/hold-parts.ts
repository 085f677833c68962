import { answerWithinMs } from '../../lock/deadline.js';
import type { LockScope } from '../../lock/handle.js';
import type { MultiPart } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { CallScope, CallScopes } from '../bounds/call-scope.js';
import type { LockEvents } from '../bounds/lock-events.js';
import { type Contender, type Leaving, OwnNode } from '../contender.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { Holders } from '../upkeep/holders.js';
import type { Janitor } from '../upkeep/janitor.js';
import type { LinkState } from '../upkeep/link-state.js';
import type { ListsBehindWrites } from '../upkeep/queue-lists.js';
import type { Hold } from './hold.js';

/** What a lock that is held needs of its lock service. */
export interface HoldParts {
  readonly session: Session;
  readonly link: LinkState;
  readonly timers: Timers;
  readonly janitor: Janitor;
  readonly lists: ListsBehindWrites;
  readonly scopes: CallScopes;
  readonly holders: Holders<Hold>;
  readonly history: HoldHistory;
  readonly events: LockEvents;
  readonly rules: UpgradeRules;
  /** 'process': its locks have no token. */
  readonly scope: LockScope;
  readonly waitMs: number;
}

/** What may keep an upgrade from its end, besides the readers that are inside. */
export interface UpgradeRules {
  /** Whether nobody of this process that is in another queue keeps the writer out; asked in the turn in which it begins. */
  isOpenToWriter(hold: Hold): boolean;
  /** Resolves when that may have changed. */
  whenOpen(key: string, scope: CallScope): Promise<void>;
  /** Waits for what a writer waits for before it enters, and sees to what is to be done when it leaves. */
  passAsWriter(hold: Hold, scope: CallScope): Promise<void>;
  /** What the contender has left that is to be undone with the removal of its intent; undefined: nothing. */
  takeBackOf(contender: Contender): Contender['lockDelay']['onGiveUp'];
}

type NodeParts = Pick<HoldParts, 'session' | 'janitor' | 'timers' | 'link' | 'waitMs'>;

/** The nodes that a hold stands on: its contender and, once it was upgraded, the intent that keeps readers out. */
export class HoldNodes {
  readonly #parts: NodeParts;
  readonly #contender: Contender;
  readonly #onGone: () => void;
  #intent: OwnNode | undefined;

  /** @param onGone told when somebody has removed one of them */
  constructor(parts: NodeParts, contender: Contender, onGone: () => void) {
    this.#parts = parts;
    this.#contender = contender;
    this.#onGone = onGone;
    contender.node.onGone(onGone);
  }

  addIntent(path: string): void {
    this.#intent = new OwnNode(this.#parts.session, path);
    this.#intent.onGone(this.#onGone);
  }

  /** Has the servers tell when somebody removes one. Called again after a reconnect, it sets what is missing. */
  watch(): void {
    this.#contender.node.keepWatched();
    this.#intent?.keepWatched();
  }

  /**
   * `also` is done in the same transaction. Resolves when the servers have confirmed, or as soon as the link is down, and
   * within the module's `waitMs` (an answer's time where that is 0); the removal goes on for as long as it takes.
   */
  remove(leaving: Leaving, also: readonly MultiPart[]): Promise<void> {
    const { janitor, timers, link, waitMs } = this.#parts;
    const { path } = this.#contender;
    const paths = this.#intent === undefined ? [path] : [this.#intent.path, path];
    this.#intent?.forget();
    const { done, forget } = janitor.remove(paths, also, this.#contender.leave(leaving));
    return timers.atMost(answerWithinMs(waitMs), link.whileUp(done)).finally(forget);
  }
}

/** The ends that calls have set to one hold, each its own: the one that comes first is the end of the hold. */
export class Leases {
  readonly #timers: Timers;
  readonly #onEnded: () => void;
  readonly #ends = new Map<object, PendingTimer>();

  constructor(timers: Timers, onEnded: () => void) {
    this.#timers = timers;
    this.#onEnded = onEnded;
  }

  /** Infinity when there is none. */
  get earliest(): number {
    let earliest = Infinity;
    for (const { at } of this.#ends.values()) earliest = Math.min(earliest, at);
    return earliest;
  }

  has(owner: object): boolean {
    return this.#ends.has(owner);
  }

  set(owner: object, endsAt: number): void {
    this.#ends.get(owner)?.cancel();
    this.#ends.set(owner, this.#timers.set(endsAt, this.#onEnded));
  }

  delete(owner: object): void {
    this.#ends.get(owner)?.cancel();
    this.#ends.delete(owner);
  }

  clear(): void {
    for (const timer of this.#ends.values()) timer.cancel();
    this.#ends.clear();
  }
}

/** How many keys are remembered, the latest used ones. */
const MAX_KEYS = 1_000;
/** The weight of the newest hold. */
const WEIGHT = 0.3;

/** How long this process's last holds of a key took, smoothed: what a wait is estimated from. */
export class HoldHistory {
  readonly #averages = new Map<string, number>();

  record(key: string, heldMs: number): void {
    const before = this.#averages.get(key);
    this.#averages.delete(key);
    this.#averages.set(key, before === undefined ? heldMs : before + WEIGHT * (heldMs - before));
    if (this.#averages.size <= MAX_KEYS) return;
    for (const oldest of this.#averages.keys()) {
      this.#averages.delete(oldest);
      return;
    }
  }

  averageMs(key: string): number | undefined {
    return this.#averages.get(key);
  }
}
