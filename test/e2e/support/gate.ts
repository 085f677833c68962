/** Where a method stops until the test lets it go on. */
export class Gate {
  readonly reached: Promise<void>;
  #reach!: () => void;
  #open!: () => void;
  readonly #opened: Promise<void>;

  constructor() {
    this.reached = new Promise((resolve) => (this.#reach = resolve));
    this.#opened = new Promise((resolve) => (this.#open = resolve));
  }

  pass(): Promise<void> {
    this.#reach();
    return this.#opened;
  }

  open(): void {
    this.#open();
  }
}
