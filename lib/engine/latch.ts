/** Something that happens once, perhaps before anybody waits for it. One waiter. */
export class Latch {
  #isOpen = false;
  #resolve: (() => void) | undefined;

  open(): void {
    this.#isOpen = true;
    this.#resolve?.();
  }

  opened(): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }
}
