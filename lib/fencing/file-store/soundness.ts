import type { Line } from './line-reader.js';
import { CUT_MARK, isCutOff, type Seen } from './record.js';

/** Bytes of a journal. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** So many records are remembered by their ends. What a writer had seen before all of these cannot be checked. */
const ENDS_KEPT = 4_096;
const NOTHING_SEEN: Seen = { to: 0, records: 0 };

/**
 * Tells a journal that was damaged from one in which a writer was cut off. A crash leaves the beginning of a record, or, after a
 * power failure, anything at all at the end. Damage to a record that was whole shows in two ways. Its bytes are not the
 * beginning of a record, and whole records follow whose writers had not read them like this. And each record tells how many
 * records its writer had read, and how far: a reader that counts differently has another journal before it.
 */
export class Soundness {
  #records = 0;
  /** Where the last records end, in ascending order. */
  #ends: number[] = [];
  /** Bytes behind the last record that no crash leaves. */
  #doubt: Span | undefined;

  /** What the next record is to say of how far its writer has read. */
  seenTo(to: number): Seen {
    return { to, records: this.#records };
  }

  /** Takes in a line that is no record. */
  passOver(line: Line): void {
    if (!isCutOff(line.bytes)) this.#doubt = { from: this.#doubt?.from ?? line.startsAt, to: endOf(line) };
  }

  /** Takes in a line that is a record. @returns what is damaged in front of it */
  add({ startsAt, endsAt }: Line, seen: Seen = NOTHING_SEEN): Span | undefined {
    const doubt = this.#doubt;
    this.#doubt = undefined;
    // The writer had read up to `seen.to`, and found so many records there. Another count is that of another journal.
    const isOther = seen.to >= (this.#ends[0] ?? Infinity) && seen.records !== this.#recordsUpTo(seen.to);
    this.#records += 1;
    this.#ends.push(endsAt);
    if (this.#ends.length >= 2 * ENDS_KEPT) this.#ends = this.#ends.slice(-ENDS_KEPT);
    // Only a writer that had read past the doubtful bytes shows that they were like this already when it went on.
    if (doubt !== undefined && seen.to < doubt.to) return doubt;
    return isOther ? { from: 0, to: Math.min(seen.to, startsAt) } : undefined;
  }

  #recordsUpTo(offset: number): number {
    const behind = this.#ends.length - 1 - this.#ends.findLastIndex((end) => end <= offset);
    return this.#records - behind;
  }
}

/** Where a line ends, without the marks that later records put behind a line that had no end. */
function endOf({ bytes, startsAt, endsAt }: Line): number {
  let length = bytes.length;
  while (bytes[length - 1] === CUT_MARK) length -= 1;
  return length === bytes.length ? endsAt : startsAt + length;
}
