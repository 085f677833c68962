import type { Line } from './line-reader.js';
import { CUT_MARK, isCutOff, type Seen } from './record.js';

/** Bytes of a journal. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A record of somebody who was stopped before so many others were written is not compared with them. */
const ENDS_KEPT = 4_096;
const NOTHING_SEEN: Seen = { to: 0, records: 0 };

/**
 * Tells a journal in which something was damaged from one in which a writer was cut off. What a crash leaves is the beginning
 * of a record, or, after a power failure, anything at all at the end. What was whole once and no longer is shows in two ways.
 * Its bytes are not the beginning of a record, and whole ones are behind them whose writers did not find them like this. And
 * each writer tells how many records it had read, and how far: whoever counts differently has another journal before him.
 */
export class Soundness {
  #records = 0;
  /** Where the last records end, in ascending order. */
  #ends: number[] = [];
  /** What no crash leaves, behind the last record. */
  #doubt: Span | undefined;

  /** What the next record says of what was read before it was made. */
  seenTo(to: number): Seen {
    return { to, records: this.#records };
  }

  /** A line that is no record. */
  passOver(line: Line): void {
    if (!isCutOff(line.bytes)) this.#doubt = { from: this.#doubt?.from ?? line.startsAt, to: endOf(line) };
  }

  /** A line that is one. @returns what is damaged in front of it */
  add({ startsAt, endsAt }: Line, seen: Seen = NOTHING_SEEN): Span | undefined {
    const doubt = this.#doubt;
    this.#doubt = undefined;
    const isOther = seen.to >= (this.#ends[0] ?? Infinity) && seen.records !== this.#recordsUpTo(seen.to);
    this.#records += 1;
    this.#ends.push(endsAt);
    if (this.#ends.length >= 2 * ENDS_KEPT) this.#ends = this.#ends.slice(-ENDS_KEPT);
    if (doubt !== undefined && seen.to < doubt.to) return doubt;
    return isOther ? { from: 0, to: Math.min(seen.to, startsAt) } : undefined;
  }

  #recordsUpTo(offset: number): number {
    const behind = this.#ends.length - 1 - this.#ends.findLastIndex((end) => end <= offset);
    return this.#records - behind;
  }
}

/** Without the end that the next record gives to a line that has none. */
function endOf({ bytes, startsAt, endsAt }: Line): number {
  let length = bytes.length;
  while (bytes[length - 1] === CUT_MARK) length -= 1;
  return length === bytes.length ? endsAt : startsAt + length;
}
