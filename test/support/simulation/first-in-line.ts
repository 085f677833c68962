import type { Judge } from './judge.js';
import type { Scenario } from './scenario.js';
import type { Removal } from './truth.js';

/** Looking, a proof of life and the way to the servers and back. */
const WAY_MS = 100;

/** Where nothing goes wrong, whoever is first in line enters soon: a wake-up that got lost is seen when it gives up. */
export class FirstInLine {
  readonly #judge: Judge;
  readonly #withinMs: number;
  readonly #isCalm: boolean;
  readonly #entered = new Set<bigint>();

  constructor({ profile, tickMs, lockDelayMs, record }: Scenario, judge: Judge) {
    this.#judge = judge;
    this.#isCalm = profile === 'calm';
    this.#withinMs = 2 * tickMs + 2 * lockDelayMs + (record?.atLeastMs ?? 0) + WAY_MS;
  }

  /** The contender with this token holds. */
  entered(token: bigint | undefined): void {
    if (token !== undefined) this.#entered.add(token);
  }

  left({ entry, atMs }: Removal): void {
    // A reader that has nobody in front of it may still have to wait for an upgrade.
    if (!this.#isCalm || entry.mode === 'read' || entry.firstSinceMs === undefined || this.#entered.has(entry.czxid))
      return;
    const waitedMs = atMs - entry.firstSinceMs;
    if (waitedMs > this.#withinMs)
      this.#judge.blame('liveness', `${entry.path} was first in line for ${waitedMs} ms and did not enter`);
  }
}
