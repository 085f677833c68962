import type { Clock } from '../../lock/clock.js';
import { RecentMap } from '../collections.js';

/** So many keys are remembered. The delay of a forgotten key counts anew, and its last run is asked for again. */
const MAX_KNOWN = 10_000;

/**
 * Remembers when this process first saw that a holder had vanished. A call that only tries does not stay in the queue until the
 * lock-delay is over, so earlier tries count. The time is that of this process's monotonic clock, as the servers' clocks may jump.
 */
export class VanishedHolders {
  readonly #first = new RecentMap<string, { readonly nodeName: string; readonly at: number }>(MAX_KNOWN);

  constructor(private readonly clock: Clock) {}

  /** Only the first time counts. `nodeName` must be known to be gone: it never comes back. */
  sawGone(queuePath: string, nodeName: string): void {
    if (this.#first.get(queuePath)?.nodeName === nodeName) return;
    this.#first.set(queuePath, { nodeName, at: this.clock.now() });
  }

  /** @returns for how long it has been known that this holder vanished; 0 when it is not known */
  ageMs(queuePath: string, nodeName: string): number {
    const first = this.#first.get(queuePath);
    return first?.nodeName === nodeName ? this.clock.now() - first.at : 0;
  }

  forget(queuePath: string): void {
    this.#first.delete(queuePath);
  }
}

/**
 * Remembers until when keys are busy after their last run, so that a call that only tries costs no write in that time: what time it is
 * at the servers shows only when a node is made.
 */
export class RecentRuns {
  readonly #busy = new RecentMap<string, { readonly change: bigint; readonly until: number }>(MAX_KNOWN);

  constructor(private readonly clock: Clock) {}

  /** @param change the last change of the record, which tells of the run */
  isBusy(queuePath: string, change: bigint, until: number): void {
    this.#busy.set(queuePath, { change, until });
  }

  /** @returns for how long the key stays busy, as far as is known; 0 where nothing is known */
  busyForMs(queuePath: string, change: bigint): number {
    const run = this.#busy.get(queuePath);
    return run?.change === change ? Math.max(0, run.until - this.clock.now()) : 0;
  }
}
