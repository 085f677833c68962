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
