import type { LockHandle, MultiLockHandle } from '../../../lib/lock/handle.js';
import type { LockMode } from '../../../lib/lock/mode.js';
import type { SessionIdentity } from '../../../lib/session/session.js';
import type { AppProcess } from './app-process.js';
import type { Judge } from './judge.js';

/** How a caller learns of the end of its lock, and what it asked for. */
export interface Ways {
  readonly readsSignal: boolean;
  readonly isCurious: boolean;
  /** Whether it waits for the module's lock-delay after a holder that vanished, and others after it. */
  readonly asksForDelay: boolean;
}

/** A lock that a caller was given: what it may believe, and what the harness knows. */
export class Grant {
  readonly path: string;
  readonly token: bigint;
  /** Read at once by some, as it is made when first asked for; undefined: nobody looks at it. */
  readonly signal: AbortSignal | undefined;
  /** The caller gave it back, or its process is gone. */
  isOver = false;
  /** Its work has ended, and its process went on. */
  isGivenBack = false;
  /** The caller gave it back while it was held. */
  isReleasedInOrder = false;
  /** When that was. */
  releasedAtMs = Infinity;
  /** The servers have committed the end of its node. */
  isNodeGone = false;
  /** The node that keeps others out where its own was gone when it was granted. */
  guardedBy: string | undefined;
  /** Its certainty has ended by arithmetic, or its session has; nothing may bring it back. */
  isPast = false;
  pastSinceMs = Infinity;
  readonly identity: SessionIdentity | undefined;
  /** Asks all the time; others only now and then, and must be told. */
  readonly isCurious: boolean;
  readonly asksForDelay: boolean;
  #wasLost = false;

  constructor(
    readonly app: AppProcess,
    /** The logical caller. */
    readonly owner: string,
    readonly key: string,
    readonly lock: LockHandle,
    readonly multi: MultiLockHandle | undefined,
    { readsSignal, isCurious, asksForDelay }: Ways,
    private readonly judge: Judge,
  ) {
    this.path = lock.nodePath;
    this.token = lock.fencingToken;
    this.identity = app.session.identity;
    this.isCurious = isCurious;
    this.asksForDelay = asksForDelay;
    if (readsSignal) this.signal = (multi ?? lock).signal;
  }

  get name(): string {
    return `${this.owner} of ${this.app.name} with ${this.path}`;
  }

  get mode(): LockMode {
    return this.lock.mode;
  }

  /** What the caller would be told if it asked now. */
  isHeldNow(): boolean {
    if (this.isOver || !this.app.isRunning) return false;
    const isHeld = this.lock.isHeld() && (this.multi?.isHeld() ?? true);
    if (isHeld && this.#wasLost) this.judge.blame('no resurrection', `${this.name} is held again`);
    if (!isHeld) this.#wasLost = true;
    return isHeld;
  }
}
