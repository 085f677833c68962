import type { FileHandle } from 'node:fs/promises';
import { LINE_FEED } from './record.js';

const SMALLEST_READ = 4 * 1024;
const LARGEST_READ = 4 * 1024 * 1024;

export interface Line {
  readonly bytes: Buffer;
  readonly startsAt: number;
  /** Where the next line begins. */
  readonly endsAt: number;
}

/** Reads the lines of a file that grows, each one once. A line without an end is left for later: its writer may be at it. */
export class LineReader {
  #readTo = 0;
  #pending: Buffer[] = [];

  constructor(private readonly file: FileHandle) {}

  /** How far it has read. */
  get readTo(): number {
    return this.#readTo;
  }

  /**
   * Reads the lines that were added since the last time.
   * @param expectedBytes how much is known to be there, at least: larger reads are fewer reads
   */
  async *newLines(expectedBytes = 0): AsyncGenerator<Line> {
    let size = Math.min(Math.max(expectedBytes, SMALLEST_READ), LARGEST_READ);
    for (;;) {
      const buffer = Buffer.allocUnsafeSlow(size);
      const { bytesRead } = await this.file.read(buffer, 0, size, this.#readTo);
      const startsAt = this.#readTo;
      this.#readTo += bytesRead;
      yield* this.#linesOf(buffer.subarray(0, bytesRead), startsAt);
      if (bytesRead < size) return;
      size = Math.min(size * 4, LARGEST_READ);
    }
  }

  *#linesOf(bytes: Buffer, startsAt: number): Generator<Line> {
    let from = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, from)) {
      const tail = bytes.subarray(from, end);
      const line = this.#pending.length === 0 ? tail : Buffer.concat([...this.#pending, tail]);
      this.#pending = [];
      from = end + 1;
      const endsAt = startsAt + from;
      yield { bytes: line, startsAt: endsAt - line.length - 1, endsAt };
    }
    if (from < bytes.length) this.#pending.push(bytes.subarray(from));
  }
}
