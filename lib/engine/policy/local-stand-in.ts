import type { AcquireOptions } from '../../lock/acquire-options.js';
import type { Busy } from '../acquire/entry-rules.js';
import type { Call, LockTaker, StandIn, TakenLock } from '../acquire/lock-taker.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { LockEvents } from '../bounds/lock-events.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { LinkState } from '../upkeep/link-state.js';

/** `whenUnavailable: 'local'`: locks of this process alone, loud, while ZooKeeper is away. */
export class LocalStandIn implements StandIn {
  readonly #taker: LockTaker;
  readonly #link: LinkState;
  readonly #timers: Timers;
  readonly #events: LockEvents;

  /** @param taker of the lock service of this process alone */
  constructor(taker: LockTaker, link: LinkState, timers: Timers, events: LockEvents) {
    this.#taker = taker;
    this.#link = link;
    this.#timers = timers;
    this.#events = events;
  }

  /**
   * While the link is down, half of the time that is left is for ZooKeeper to come back. Of a session that is lost, or did
   * not come up for as long as one lasts, nothing is expected any more.
   */
  limit(scope: CallScope): void {
    const { deadline } = scope;
    let timer: PendingTimer | undefined;
    const look = (): void => {
      timer?.cancel();
      if (this.#link.isUp) return;
      const patienceMs = this.#link.state === 'lost' ? 0 : deadline.remainingMs() / 2;
      timer = this.#timers.set(deadline.clock.now() + patienceMs, () => scope.end(scope.timeUp()));
    };
    scope.onDispose(this.#link.onChange('calls', look));
    scope.onDispose(() => timer?.cancel());
    look();
  }

  take(key: string, options: AcquireOptions, call: Call): Promise<TakenLock> {
    this.#tell(key, options);
    return this.#taker.take(key, options, call);
  }

  tryTake(key: string, options: AcquireOptions, call: Call): Promise<TakenLock | Busy> {
    this.#tell(key, options);
    return this.#taker.tryTake(key, options, call);
  }

  #tell(key: string, { mode = 'exclusive', label }: AcquireOptions): void {
    this.#events.next({ type: 'degraded', key, mode, label });
  }
}
