import type { PendingTimer, Timers } from '../timers.js';

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
