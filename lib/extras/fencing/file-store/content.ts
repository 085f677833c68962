/** The bytes of a file, to which many small pieces can be added without copying the whole each time. */
export class Content {
  #pieces: Uint8Array[];
  #length: number;

  constructor(bytes: Uint8Array) {
    this.#pieces = [bytes];
    this.#length = bytes.length;
  }

  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.#length += bytes.length;
  }

  /** The caller may do with it what it likes. */
  copy(): Buffer {
    const whole = Buffer.concat(this.#pieces, this.#length);
    if (this.#pieces.length > 1) this.#pieces = [Buffer.from(whole)];
    return whole;
  }
}
