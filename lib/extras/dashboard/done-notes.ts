import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { BreakOutcome } from '../doctor/break-lock.js';
import { addressOf } from './address.js';

/** A step that was taken, and its result. */
export interface Done {
  readonly what: BreakOutcome | 'drained' | 'cleared';
  /** A drain ended this many waits; undefined for other steps. */
  readonly count?: number;
}

/** A step that was taken, as an address tells it. */
export interface DoneThen extends Done {
  readonly at: Date;
}

const SECRET_BYTES = 32;
/** The page is looked at, and reloaded, for a while; what an old address says interests nobody. */
const VALID_MS = 300_000;

/**
 * Carries what was done through the address of the page behind a step. Anybody can type an address, or send one, so it is signed: what
 * this process has not done is not shown. Nothing is kept here; another instance of the application, and this one after a restart, show
 * no note.
 */
export class DoneNotes {
  readonly #secret = randomBytes(SECRET_BYTES);

  /** @param now the wall clock, in milliseconds since 1970 */
  constructor(private readonly now: () => number = Date.now) {}

  /** The address of the page of the lock, which says what was done to it just now. */
  addressFor(key: string, { what, count }: Done): string {
    const facts = { key, done: what, count: count === undefined ? undefined : String(count), at: String(this.now()) };
    return addressOf('lock', { ...facts, proof: this.#proofOf(facts) });
  }

  /** @returns undefined where the address says nothing of the kind, or nothing that this process has written lately */
  read(parameters: URLSearchParams): DoneThen | undefined {
    const [key, done, count, at, proof] = ['key', 'done', 'count', 'at', 'proof'].map(
      (name) => parameters.get(name) ?? undefined,
    );
    if (done === undefined || proof === undefined) return undefined;
    const expected = Buffer.from(this.#proofOf({ key, done, count, at }));
    const given = Buffer.from(proof);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    // From here on it is what was written above.
    // The clock may have been set back a moment since.
    if (Math.abs(this.now() - Number(at)) > VALID_MS) return undefined;
    return {
      what: done as Done['what'],
      at: new Date(Number(at)),
      ...(count === undefined ? {} : { count: Number(count) }),
    };
  }

  #proofOf({ key, done, count, at }: Readonly<Record<'key' | 'done' | 'count' | 'at', string | undefined>>): string {
    // As a list, so that no part can begin where another one ends.
    const text = JSON.stringify([key, done, count, at]);
    return createHmac('sha256', this.#secret).update(text).digest('base64url');
  }
}
