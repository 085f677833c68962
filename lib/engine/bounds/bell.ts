/** Something to wait for that may happen before anybody waits. One waiter. */
export class Bell {
  #rung = false;
  #resolve: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#resolve?.();
  }

  /** Resolves at the first ring. */
  heard(): Promise<void> {
    if (this.#rung) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }
}
