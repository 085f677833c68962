import type { RecordedHold } from './recorded-holds.js';

interface Change {
  readonly zxid: bigint;
  /** The hold that stood in the record before. */
  readonly before: RecordedHold | undefined;
}

/**
 * What has left the records of keys although nobody entered and no node went with it: an operator has cleared it, or somebody has
 * taken itself out who had not vanished, when its session had ended already (its release came late, or it had never entered).
 */
export class TakenOut {
  readonly #changes = new Map<string, Change[]>();

  add(key: string, change: Change): void {
    this.#changes.set(key, [...(this.#changes.get(key) ?? []), change]);
  }

  /** What has left the record since this contender came: of its own look at the record it is only known that it was later than that. */
  since(key: string, token: bigint): readonly Change[] {
    return (this.#changes.get(key) ?? []).filter(({ zxid }) => zxid > token);
  }
}
