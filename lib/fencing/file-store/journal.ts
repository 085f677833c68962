import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { LockConfigurationError } from '../../lock/errors.js';
import { unlessMissing } from './directories.js';
import { JournalState, type Verdict } from './journal-state.js';
import { type Line, LineReader } from './line-reader.js';
import { encodeRecord, type JournalRecord, parseLine } from './record.js';
import type { Room } from './room.js';
import { Soundness, type Span } from './soundness.js';

/** Never made by opening: a journal begins with its `base` or not at all. For reading too: an overlay file system gives those
 * who only read another file than those who write. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW;

/** What is smaller leaves no more behind when it is cut off than the call would cost that asks for the room. */
const LARGE_RECORD_BYTES = 64 * 1024;

/** How one record fared: `mark` is the highest token before it, or its own if it counts. */
export interface Outcome {
  readonly verdict: Verdict;
  readonly mark: bigint;
}

/** Of an open file; they stay as they are, wherever it is moved. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** One journal: an open file, and what its records amount to as far as they were read. */
export class Journal {
  readonly state = new JournalState();
  readonly #lines: LineReader;
  readonly #soundness = new Soundness();
  /** What is known to outlast a power failure. */
  #durableTo = 0;
  /** The line without which nothing else may be believed. */
  #hasBase = false;

  private constructor(
    readonly path: string,
    readonly generation: number,
    private readonly file: FileHandle,
    readonly identity: Identity,
    private readonly room: Room,
  ) {
    this.#lines = new LineReader(file);
  }

  static async open(path: string, generation: number, room: Room): Promise<Journal> {
    const file = await open(path, FLAGS);
    try {
      return new Journal(path, generation, file, await file.stat({ bigint: true }), room);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get size(): number {
    return this.#lines.readTo;
  }

  /**
   * Whether it is still what its path leads to. Otherwise it has been replaced, or somebody has moved or removed its folder:
   * then what is added here is read by nobody.
   */
  async isInPlace(): Promise<boolean> {
    const there = await unlessMissing(lstat(this.path, { bigint: true }));
    return there?.ino === this.identity.ino && there.dev === this.identity.dev;
  }

  /** Reads what others have added. */
  async catchUp(): Promise<void> {
    for await (const line of this.#lines.newLines()) this.#apply(line);
    if (!this.#hasBase) throw withoutBase(this.path);
  }

  /** Whoever is told of a record may rely on it: this is for those that another process has written, and maybe not synced yet. */
  async makeDurable(): Promise<void> {
    const readTo = this.#lines.readTo;
    if (readTo <= this.#durableTo) return;
    await this.file.datasync();
    this.#durableTo = readTo;
  }

  /**
   * Adds a record and looks where it came to stand: nothing else tells whether it counts. When this resolves, it and all
   * before it outlast a power failure.
   */
  async append(record: Omit<JournalRecord, 'id' | 'seen'>): Promise<Outcome> {
    const id = randomUUID();
    const bytes = encodeRecord({ ...record, id, seen: this.#soundness.seenTo(this.#lines.readTo) });
    if (bytes.length > LARGE_RECORD_BYTES) await this.room.assertFor(bytes.length);
    const { bytesWritten } = await this.file.write(bytes, 0, bytes.length, null);
    if (bytesWritten < bytes.length) throw cutShort(this.path, bytesWritten, bytes.length);
    await this.file.datasync();
    let outcome: Outcome | undefined;
    for await (const line of this.#lines.newLines(bytes.length + 1)) {
      const read = this.#apply(line);
      if (read?.id !== id) continue;
      outcome = { verdict: read.verdict, mark: this.state.mark };
      this.#durableTo = line.endsAt;
    }
    if (outcome === undefined) throw notFound(this.path);
    return outcome;
  }

  async close(): Promise<void> {
    // What was acknowledged is synced, so that the end of the file handle has nothing to add, and must not spoil an answer.
    await this.file.close().catch(() => undefined);
  }

  #apply(line: Line): { readonly id: string; readonly verdict: Verdict } | undefined {
    const record = parseLine(line.bytes);
    if (record === undefined) {
      this.#soundness.passOver(line);
      return undefined;
    }
    if ((record.kind === 'base') === this.#hasBase) throw withoutBase(this.path);
    this.#hasBase = true;
    const damage = this.#soundness.add(line, record.seen);
    if (damage !== undefined) throw damaged(this.path, damage, line);
    return { id: record.id, verdict: this.state.apply(record) };
  }
}

function cutShort(path: string, bytesWritten: number, length: number): Error {
  return new Error(
    `Only ${bytesWritten} of ${length} bytes could be added to ${path}: the disk is full, or a quota or the limit for the ` +
      'size of a file is reached. Nothing was written: what is there of the record counts for nobody. Make room, then repeat it',
  );
}

function notFound(path: string): LockConfigurationError {
  return new LockConfigurationError(
    `What was added to ${path} is not there: something else changes the file, or its file system does not keep what several ` +
      'processes append (network file systems do not). Whether it was written is not known. Use a local disk',
  );
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
