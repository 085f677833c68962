/** What happened in a schedule, as one number: two runs of a seed are the same when it is. */
export class Journal {
  #hash = 0x811c9dc5;
  #lines = 0;
  readonly #print: ((line: string) => void) | undefined;

  /** @param print for people who look into one seed */
  constructor(print?: (line: string) => void) {
    this.#print = print;
  }

  note(atMs: number, line: string): void {
    const text = `${atMs.toFixed(1)} ${line}`;
    this.#print?.(text);
    this.#lines += 1;
    let hash = this.#hash;
    for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    this.#hash = hash;
  }

  get digest(): string {
    return `${this.#lines}:${(this.#hash >>> 0).toString(16)}`;
  }
}
