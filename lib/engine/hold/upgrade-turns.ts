import { outsideCalls } from '../../lock/outside-calls.js';
import type { Wait } from '../wait.js';

/** Upgrades of one hold take turns, because their intents share one name: they all stand for the same contender. */
export class UpgradeTurns {
  /** The waiting upgrades, in order. A chain of promises would keep each upgrade that gave up while the link is down. */
  readonly #waiting = new Set<() => void>();
  /** Whether an upgrade has the turn, or the intent of a failed one is still being removed. */
  #isBusy = false;
  #under = 0;

  /** Whether an upgrade is under way. One that has failed and only cleans up does not count. */
  get isUnderWay(): boolean {
    return this.#under > 0;
  }

  /**
   * Waits for the turn.
   * @returns how to end it; `whenRemoved` resolves when the servers have removed the failed upgrade's intent
   */
  async begin(wait: Wait): Promise<(whenRemoved: Promise<void> | undefined) => void> {
    this.#under += 1;
    try {
      if (this.#isBusy) await this.#turn(wait);
      else if (wait.error !== undefined) throw wait.error;
    } catch (error) {
      this.#under -= 1;
      throw error;
    }
    this.#isBusy = true;
    return (whenRemoved) => {
      this.#under -= 1;
      // The next upgrade looks for an intent by name, and would take the one that is being removed for its own.
      if (whenRemoved === undefined) this.#pass();
      else void outsideCalls(() => whenRemoved.then(() => this.#pass()));
    };
  }

  async #turn(wait: Wait): Promise<void> {
    let begin: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => {
      begin = resolve;
      this.#waiting.add(begin);
    });
    try {
      await wait.guard(turn);
    } catch (error) {
      // The turn may have come in the same moment in which the wait was ended. Then the next one has it.
      if (!this.#waiting.delete(begin)) this.#pass();
      throw error;
    }
  }

  #pass(): void {
    const [next] = this.#waiting;
    this.#isBusy = next !== undefined;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next();
  }
}
