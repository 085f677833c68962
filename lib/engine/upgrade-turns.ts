/** An upgrade's turn: it waits for `before`, and says when nothing of it is left that another could take for its own. */
export interface UpgradeTurn {
  readonly before: Promise<void>;
  readonly leave: (when: Promise<void> | undefined) => void;
}

/** Upgrades of one hold take turns: they share its place in the queue, and with that the name of their intents. */
export class UpgradeTurns {
  #last: Promise<void> = Promise.resolve();
  #under = 0;

  /** Whether one is under way; one that has failed and only cleans up is not. */
  get isTaken(): boolean {
    return this.#under > 0;
  }

  queue(): UpgradeTurn {
    const before = this.#last;
    let end!: (when: Promise<void> | undefined) => void;
    this.#last = new Promise<void>((resolve) => (end = resolve as typeof end));
    this.#under += 1;
    const leave = (when: Promise<void> | undefined): void => {
      this.#under -= 1;
      end(when);
    };
    return { before, leave };
  }
}
