import { outsideCalls } from '../../lock/outside-calls.js';
import type { Wait } from '../wait.js';

/** Upgrades of one hold take turns: they share its place in the queue, and with that the name of their intents. */
export class UpgradeTurns {
  /** Those that wait, in order. Not a chain of promises: while the link is down, each that gave up would stay in it. */
  readonly #waiting = new Set<() => void>();
  /** Whether one has the turn, or what it left is still being removed. */
  #isBusy = false;
  #under = 0;

  /** Whether one is under way; one that has failed and only cleans up is not. */
  get isTaken(): boolean {
    return this.#under > 0;
  }

  /** Waits for the turn. @returns how it ends: once nothing is left of it that another could take for its own */
  async take(wait: Wait): Promise<(whenRemoved: Promise<void> | undefined) => void> {
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
      // The turn may have come in the moment in which the wait was ended.
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
