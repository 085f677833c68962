import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { LockConfigurationError } from '../../lock/errors.js';
import { type Room, unlessMissing } from './disk.js';
import { JournalReader } from './journal-reader.js';
import { type JournalState, stateAfter, UNTOUCHED, type Verdict, verdictOn } from './journal-state.js';
import { encodeRecord, type JournalRecord } from './record.js';

/**
 * Without O_CREAT: opening makes no journal, as a journal begins with its `base` or not at all. For writing also where it is
 * only read: an overlay file system gives a process that only reads another file than one that writes.
 */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW;

/** A smaller record is written without asking for the room: if it is cut off, it leaves less behind than the question costs. */
const LARGE_RECORD_BYTES = 64 * 1024;

/** What became of a record. `mark` is the highest token in front of it, or its own if it counts. */
export interface Outcome {
  readonly verdict: Verdict;
  readonly mark: bigint;
}

/** The numbers of an open file, which it keeps wherever it is moved. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

interface OpenFile {
  readonly file: FileHandle;
  readonly identity: Identity;
}

/** One journal: an open file, and what its records amount to as far as they were read. */
export class Journal {
  readonly identity: Identity;
  private readonly file: FileHandle;
  #state = UNTOUCHED;
  readonly #reader: JournalReader;
  /** How far the journal is known to outlast a power failure. */
  #durableTo = 0;

  private constructor(
    readonly path: string,
    readonly generation: number,
    { file, identity }: OpenFile,
    private readonly room: Room,
  ) {
    this.file = file;
    this.identity = identity;
    this.#reader = new JournalReader(file, path);
  }

  static async open(path: string, generation: number, room: Room): Promise<Journal> {
    const file = await open(path, FLAGS);
    try {
      return new Journal(path, generation, { file, identity: await file.stat({ bigint: true }) }, room);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get size(): number {
    return this.#reader.seen.to;
  }

  /** What the records amount to that were read. */
  get state(): JournalState {
    return this.#state;
  }

  /**
   * Whether the path still leads to this file. Otherwise the journal was replaced, or its folder was moved or removed, and
   * nobody reads what is added here.
   */
  async isInPlace(): Promise<boolean> {
    const there = await unlessMissing(lstat(this.path, { bigint: true }));
    return there !== undefined && isSameFile(there, this.identity);
  }

  /** Reads the records that others have added. */
  async catchUp(): Promise<void> {
    for await (const { record } of this.#reader.newRecords()) this.#apply(record);
  }

  /** Syncs the records that were read. Another process may have written them, and not have synced them yet. */
  async makeDurable(): Promise<void> {
    const readTo = this.size;
    if (readTo <= this.#durableTo) return;
    await this.file.datasync();
    this.#durableTo = readTo;
  }

  /**
   * Adds a record, and reads whether it counts. When this resolves, the record and all before it outlast a power failure.
   */
  async append(change: Omit<JournalRecord, 'id' | 'seen'>): Promise<Outcome> {
    const id = randomUUID();
    const bytes = encodeRecord({ ...change, id, seen: this.#reader.seen });
    if (bytes.length > LARGE_RECORD_BYTES) await this.room.assertFor(bytes.length);
    // One call writes the whole record: the file is open for appending, so the kernel puts no other record in between.
    const { bytesWritten } = await this.file.write(bytes, 0, bytes.length, null);
    if (bytesWritten < bytes.length) throw cutShort(this.path, bytesWritten, bytes.length);
    await this.file.datasync();
    // Others may have added records first. Only the journal itself tells where this one came to stand.
    let outcome: Outcome | undefined;
    for await (const { record, endsAt } of this.#reader.newRecords(bytes.length + 1)) {
      const verdict = this.#apply(record);
      if (record.id !== id) continue;
      outcome = { verdict, mark: this.#state.mark };
      this.#durableTo = endsAt;
    }
    if (outcome === undefined) throw notFound(this.path);
    return outcome;
  }

  async close(): Promise<void> {
    // All that was acknowledged is synced. A failure to close the file changes nothing, and must not spoil an answer.
    await this.file.close().catch(() => undefined);
  }

  #apply(record: JournalRecord): Verdict {
    const verdict = verdictOn(record, this.#state);
    if (verdict === 'counts') this.#state = stateAfter(this.#state, record);
    return verdict;
  }
}

export function isSameFile(one: Identity, other: Identity): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

function cutShort(path: string, bytesWritten: number, length: number): Error {
  return new Error(
    `Only ${bytesWritten} of ${length} bytes could be added to ${path}: the disk is full, or a quota or the limit for the ` +
      'size of a file is reached. Nothing was written: the part of the record that is there counts for nobody. ' +
      'Make room, then repeat it',
  );
}

function notFound(path: string): LockConfigurationError {
  return new LockConfigurationError(
    `The record that was added to ${path} is not there: something else changes the file, or its file system does not keep what ` +
      'several processes append (network file systems do not). Whether it was written is not known. Use a local disk',
  );
}
