const TWO_TO_32 = 0x1_0000_0000;

/** FNV-1a, which spreads a name over 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

/** Mulberry32. It gives the same numbers for the same seed on every machine, and a schedule needs no more. */
export class SeededRandom {
  #state: number;

  constructor(readonly seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    return this.word() / TWO_TO_32;
  }

  /** An unsigned integer of 32 bits. */
  word(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** An integer in [0, below). */
  integer(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** A copy in random order (Fisher-Yates). */
  shuffled<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last -= 1) {
      const other = this.integer(last + 1);
      [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
    }
    return shuffled;
  }

  /** A source for one named user. Draws of one user do not change what another user draws. */
  fork(name: string): SeededRandom {
    // The fork depends on the seed and the name alone, not on what has been drawn so far.
    return new SeededRandom(hash(`${this.seed}/${name}`));
  }
}
