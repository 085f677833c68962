import type { FileHandle } from 'node:fs/promises';
import { LockConfigurationError } from '../../lock/errors.js';
import { CUT_MARK, isCutOff, type JournalRecord, LINE_FEED, parseLine, type Seen } from './record.js';

const SMALLEST_READ = 4 * 1024;
const LARGEST_READ = 4 * 1024 * 1024;
/** At most this many records are remembered by their ends. What a writer had seen before all of these cannot be checked. */
const ENDS_KEPT = 4_096;

interface Line {
  readonly bytes: Buffer;
  readonly startsAt: number;
  /** Where the next line begins. */
  readonly endsAt: number;
}

/** Bytes of a journal. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads the records of a journal that grows, each one once.
 *
 * It tells a journal that was damaged from one in which a writer was cut off. A crash leaves the beginning of a record, or, after a
 * power failure, anything at all at the end. Damage to a record that was whole shows in two ways. Its bytes are not the
 * beginning of a record, and whole records follow whose writers had not read them like this. And each record tells how many
 * records its writer had read, and how far: a reader that counts differently has another journal before it.
 */
export class JournalReader {
  #readTo = 0;
  /** A line without an end is left for later: its writer may be at it. */
  #pending: Buffer = Buffer.alloc(0);
  /** Whether the first record, the `base`, was found: nothing else may be believed without it. */
  #hasBase = false;
  #records = 0;
  /** Where the last records end, in ascending order. */
  #ends: number[] = [];
  /** Bytes behind the last record that no crash leaves. */
  #doubt: Span | undefined;

  constructor(
    private readonly file: FileHandle,
    private readonly path: string,
  ) {}

  /** How far it has read, and how many records it has found. */
  get seen(): Seen {
    return { to: this.#readTo, records: this.#records };
  }

  /**
   * Reads the records that were added since the last time.
   * @param expectedBytes how much is known to be there, at least: larger reads are fewer reads
   * @throws LockConfigurationError for a journal that is damaged
   */
  async *newRecords(expectedBytes = 0): AsyncGenerator<{ readonly record: JournalRecord; readonly endsAt: number }> {
    for await (const line of this.#newLines(expectedBytes)) {
      const record = parseLine(line.bytes);
      if (record === undefined) {
        if (!isCutOff(line.bytes)) this.#doubt = { from: this.#doubt?.from ?? line.startsAt, to: endOf(line) };
        continue;
      }
      if ((record.kind === 'base') === this.#hasBase) throw withoutBase(this.path);
      this.#hasBase = true;
      const damage = this.#damageBefore(line, record.seen);
      if (damage !== undefined) throw damaged(this.path, damage, line);
      this.#doubt = undefined;
      this.#records += 1;
      this.#ends.push(line.endsAt);
      if (this.#ends.length >= 2 * ENDS_KEPT) this.#ends = this.#ends.slice(-ENDS_KEPT);
      yield { record, endsAt: line.endsAt };
    }
    if (!this.#hasBase) throw withoutBase(this.path);
  }

  async *#newLines(expectedBytes: number): AsyncGenerator<Line> {
    let size = Math.min(Math.max(expectedBytes, SMALLEST_READ), LARGEST_READ);
    for (;;) {
      const { bytesRead, buffer } = await this.file.read(Buffer.allocUnsafeSlow(size), 0, size, this.#readTo);
      const bytes = Buffer.concat([this.#pending, buffer.subarray(0, bytesRead)]);
      const startsAt = this.#readTo - this.#pending.length;
      this.#readTo += bytesRead;
      let from = 0;
      for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, from)) {
        yield { bytes: bytes.subarray(from, end), startsAt: startsAt + from, endsAt: startsAt + end + 1 };
        from = end + 1;
      }
      this.#pending = bytes.subarray(from);
      if (bytesRead < size) return;
      size = Math.min(size * 4, LARGEST_READ);
    }
  }

  /** What is damaged in front of a record whose writer had read so far. */
  #damageBefore({ startsAt }: Line, seen: Seen): Span | undefined {
    // Only a writer that had read past the doubtful bytes shows that they were like this already when it went on.
    if (this.#doubt !== undefined && seen.to < this.#doubt.to) return this.#doubt;
    // The writer had read up to `seen.to`, and found so many records there. Another count is that of another journal.
    const isOther = seen.to >= (this.#ends[0] ?? Infinity) && seen.records !== this.#recordsUpTo(seen.to);
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

function damaged(path: string, { from, to }: Span, { startsAt }: Line): LockConfigurationError {
  return new LockConfigurationError(
    `${path} is damaged between byte ${from} and byte ${to}: whole records follow (at byte ${startsAt}), so this is not what a ` +
      'crash leaves, and a change or a token that was acknowledged may be gone. Nothing of it is read or written. Stop all ' +
      'writers, then restore its folder from a backup (docs/fencing.md, "Damage")',
  );
}

function withoutBase(path: string): LockConfigurationError {
  return new LockConfigurationError(
    `${path} is damaged: it must begin with the state of the file, and have it once. No process leaves it like this. ` +
      'Stop all writers, then restore its folder from a backup, or move the folder away to begin the file anew',
  );
}
