import type { Clock } from '../../lock/clock.js';

/** How many keys are remembered; one that was forgotten is held back from anew. */
const MAX_KNOWN = 10_000;

/**
 * When this process first saw that a holder had vanished. Who only ever tries does not stay in the queue until the
 * lock-delay is over, so its earlier looks count. By the monotonic clock of one process: the servers' clocks may jump.
 */
export class VanishedHolders {
  readonly #clock: Clock;
  readonly #first = new Map<string, { readonly nodeName: string; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Only the first time counts. `nodeName` must be known to be gone: it never comes back. */
  sawGone(queuePath: string, nodeName: string): void {
    if (this.#first.get(queuePath)?.nodeName === nodeName) return;
    this.#first.delete(queuePath);
    this.#first.set(queuePath, { nodeName, at: this.#clock.now() });
    for (const oldest of this.#first.keys()) {
      if (this.#first.size <= MAX_KNOWN) break;
      this.#first.delete(oldest);
    }
  }

  /** @returns for how long it has been known that this holder vanished; 0 when it is not known */
  ageMs(queuePath: string, nodeName: string): number {
    const first = this.#first.get(queuePath);
    return first?.nodeName === nodeName ? this.#clock.now() - first.at : 0;
  }

  forget(queuePath: string): void {
    this.#first.delete(queuePath);
  }
}
