import { contenderId } from '../../queue/node-name.js';

/** Where the last group of a UUID begins. */
const COUNT_AT = 24;

/** Tells contenders and callers apart, as UUIDs: random once for a lock service, then counted, which costs an acquire less. */
export class Identifiers {
  readonly #beginning: string;
  #count = 0;

  constructor(randomUuid: string) {
    this.#beginning = contenderId(randomUuid).slice(0, COUNT_AT);
  }

  next(): string {
    this.#count += 1;
    return this.#beginning + this.#count.toString(16).padStart(12, '0');
  }
}
