import { encodeRecord, type KeyRecord, parseRecord, type RecordedHolder, type Vanished } from '../queue/key-record.js';
import { check, type MultiPart, type NodeData, set, type Stat } from '../session/requests.js';

/** Changes that go with a removal, and that only the data of this node decide, once it is known that no write is under way any more. */
export interface ChangesAfterLook {
  readonly path: string;
  changesTo(found: NodeData): readonly MultiPart[];
}

/** What a contender has found in the record of its key. */
export interface FoundInRecord {
  readonly vanished: Vanished | undefined;
  /** Whether the contender has to recover what that holder has left. */
  readonly isRecoveryOwed: boolean;
}

/** The entry that a writing contender makes in the record of its key. It says what becomes of the record when the contender leaves. */
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
    // The bytes are a view of everything that was received together, which must not be kept.
    this.#before = { stat: before.stat, data: before.data.slice() };
    this.#record = { inside, abandoned: vanished?.holder };
  }

  /** The data for the contender that enters. */
  get data(): Uint8Array {
    return encodeRecord(this.#record);
  }

  /** The servers have written the entry: by their clock the hold begins at this time. */
  began({ mtime, version }: Stat): void {
    this.#version = version;
    // Each later change of the node has a later time, so the first one is kept in the record.
    this.#record = { ...this.#record, inside: { ...this.#record.inside, beganAt: mtime } };
  }

  /** Changes the entry while the lock is held. @returns the request for that, whose answer goes to `changed` */
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

  /** The leftovers of the holder that vanished are recovered, and the next holder need not be told of them. */
  recovered(): void {
    this.#isRecoveryOwed = false;
    this.#isRecovered = true;
  }

  /** No caller was given the lock, and so none was told of a holder that vanished: the next one will be. */
  unused(): void {
    this.#isRecoveryOwed = this.vanished !== undefined && !this.#isRecovered;
  }

  /** What removes a contender that never held from the record, in the transaction that removes its node. */
  undo(): readonly MultiPart[] | ChangesAfterLook {
    const path = this.#queuePath;
    const { data, stat } = this.#before;
    // The node that goes with it may be an intent, with contenders ahead that write into the record as soon as the upgrader has gone. So
    // the version is checked besides: a removal of nodes that are there leaves out the versions of its changes.
    if (this.#version !== undefined) return [check(path, this.#version), set(path, data, this.#version)];
    // Whether the record was written is not known, and its version does not tell: an operator may have cleared what this contender
    // found, or a holder whose release came late may have taken its name out. That must not be undone.
    const isWritten = (found: NodeData): boolean => parseRecord(found.data).inside?.name === this.#record.inside.name;
    const changesTo = (found: NodeData): readonly MultiPart[] =>
      isWritten(found) ? [check(path, found.stat.version), set(path, data, stat.version + 1)] : [];
    return { path, changesTo };
  }

  /** Makes the changes of the record that go with an orderly release. */
  release(): readonly MultiPart[] {
    const { busyMs, beganAt } = this.#record.inside;
    const lastRun = busyMs === undefined || beganAt === undefined ? undefined : { at: beganAt, busyMs };
    // A holder that did not recover leaves the record as it was found, and so the recovery to the next one.
    const data = this.#isRecoveryOwed ? this.#before.data : encodeRecord({ lastRun });
    return [set(this.#queuePath, data, this.#version)];
  }
}
