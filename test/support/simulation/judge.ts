import type { Journal } from './journal.js';

/** The promises of the product, by the names the documentation has for them. */
export type Promised =
  | 'one holder'
  | 'loss is told first'
  | 'no resurrection'
  | 'granted is held'
  | 'tokens rise'
  | 'first come, first served'
  | 'every promise settles'
  | 'no litter'
  | 'liveness'
  | 'honest errors'
  | 'no herd'
  | 'lock-delay'
  | 'kept out meanwhile'
  | 'exactly that contender'
  | 'waits are ended'
  | 'recovered once'
  | 'once per occurrence'
  | 'a full queue'
  | 'no false loss';

export interface Violation {
  readonly promise: Promised;
  readonly atMs: number;
  readonly text: string;
}

/** Takes down what the checkers find. */
export class Judge {
  readonly violations: Violation[] = [];
  readonly #now: () => number;
  readonly #journal: Journal;

  constructor(now: () => number, journal: Journal) {
    this.#now = now;
    this.#journal = journal;
  }

  blame(promise: Promised, text: string): void {
    const atMs = this.#now();
    this.#journal.note(atMs, `VIOLATION ${promise}: ${text}`);
    this.violations.push({ promise, atMs, text });
  }
}
