import { encodeRecord, type KeyRecord, type RecordedHolder, type Vanished } from '../queue/key-record.js';
import { check, type MultiPart, type NodeData, set, type Stat } from '../session/requests.js';

/** What a contender has found in the record of its key. */
export interface FoundInRecord {
  readonly vanished: Vanished | undefined;
  /** Whether the contender takes on to recover it. */
  readonly isRecoveryOwed: boolean;
}

/** What a writing contender has written, or is writing, into the record of its key, and what becomes of that when it leaves. */
export class RecordEntry {
  readonly vanished: Vanished | undefined;
  readonly #queuePath: string;
  readonly #before: NodeData;
  #record: KeyRecord & { readonly inside: RecordedHolder };
  /** The version of the node after the last change that was answered; undefined while one is under way. */
  #version: number | undefined;
  #isRecoveryOwed: boolean;
  #isRecovered = false;

  /**
   * @param before the record as it was read
   * @param found what the contender found in it
   */
  constructor(queuePath: string, before: NodeData, inside: RecordedHolder, found: FoundInRecord) {
    const { vanished } = found;
    this.vanished = vanished;
    this.#isRecoveryOwed = found.isRecoveryOwed;
    this.#queuePath = queuePath;
    // The bytes are a part of all that was received together, which must not be kept.
    this.#before = { stat: before.stat, data: before.data.slice() };
    this.#record = { inside, abandoned: vanished?.holder };
  }

  /** The data for the contender that enters. */
  get data(): Uint8Array {
    return encodeRecord(this.#record);
  }

  /** The servers have it: the hold begins at this time of theirs. */
  began({ mtime, version }: Stat): void {
    this.#version = version;
    // Each later change of the node has a later time, so the first one is kept in the record.
    this.#record = { ...this.#record, inside: { ...this.#record.inside, beganAt: mtime } };
  }

  /** A change while the lock is held. @returns the request; `changed` takes its answer */
  change(changes: { readonly checkpoint?: unknown; readonly abandoned?: undefined }): MultiPart {
    const { inside, abandoned } = this.#record;
    this.#record = {
      inside: 'checkpoint' in changes ? { ...inside, checkpoint: changes.checkpoint } : inside,
      abandoned: 'abandoned' in changes ? undefined : abandoned,
    };
    this.#version = undefined;
    return set(this.#queuePath, this.data);
  }

  changed({ version }: Stat): void {
    this.#version = version;
  }

  /** What the holder that vanished has left is recovered: nobody need be told of it any more. */
  recovered(): void {
    this.#isRecoveryOwed = false;
    this.#isRecovered = true;
  }

  /** Nobody was given the lock, so nobody was told what it found: that is for the next one. */
  unused(): void {
    this.#isRecoveryOwed = this.vanished !== undefined && !this.#isRecovered;
  }

  /** What removes a contender that never held from the record, in the transaction that removes its node. */
  undo(): readonly MultiPart[] {
    const { data, stat } = this.#before;
    if (this.#version !== undefined) return [set(this.#queuePath, data, this.#version)];
    // Whether the record was written is not known. As long as the node is there, nobody else can have written that version; once it is
    // gone, the next contender can. So here the change names no version, and is made with the removal or not at all.
    return [check(this.#queuePath, stat.version + 1), set(this.#queuePath, data)];
  }

  /** What an orderly release does to the record. */
  release(): readonly MultiPart[] {
    const { busyMs, beganAt } = this.#record.inside;
    const lastRun = busyMs === undefined || beganAt === undefined ? undefined : { at: beganAt, busyMs };
    // Who gives up to recover leaves the record as it was found, and so the recovery to the next one.
    const data = this.#isRecoveryOwed ? this.#before.data : encodeRecord({ lastRun });
    return [set(this.#queuePath, data, this.#version)];
  }
}
