import type { Clock } from '../../lock/clock.js';
import { RecentMap } from '../collections.js';

/** So many keys are remembered; the delay of a key that was forgotten counts from anew. */
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
