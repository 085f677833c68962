import { isStale } from '../token.js';
import { Content } from './content.js';
import type { JournalRecord } from './record.js';

/** Whether a record counts; if not, why not. `overtaken`: the content has changed since the record was made for it. */
export type Verdict = 'counts' | 'stale' | 'sealed' | 'overtaken';

const NOTHING = new Uint8Array();
const SPACE = 0x20;

/**
 * The state of a file: what the records of one journal amount to. It depends on nothing but their order, so all processes
 * that read the same journal come to the same state.
 */
export class JournalState {
  /** The highest token of the records that count. */
  #mark = 0n;
  /** The token of the last record that wrote or appended; 0 where there is no content. */
  #writtenUnder = 0n;
  #content: Content | undefined;
  #lastChange = 'none';
  #isSealed = false;

  get mark(): bigint {
    return this.#mark;
  }

  get writtenUnder(): bigint {
    return this.#writtenUnder;
  }

  get content(): Content | undefined {
    return this.#content;
  }

  /** The record that made the content what it is. */
  get lastChange(): string {
    return this.#lastChange;
  }

  get isSealed(): boolean {
    return this.#isSealed;
  }

  apply(record: JournalRecord): Verdict {
    if (this.#isSealed) return 'sealed';
    if (isStale(record.token, this.#mark)) return 'stale';
    if (record.onlyAfter !== undefined && record.onlyAfter !== this.#lastChange) return 'overtaken';
    this.#mark = record.token;
    this.#change(record);
    return 'counts';
  }

  /** The record with which the next journal begins. All processes make the same bytes of it. */
  toBase(): JournalRecord {
    const start = Buffer.from(`${this.#lastChange} ${this.#content === undefined ? '-' : this.#writtenUnder} `);
    const payload = this.#content === undefined ? start : Buffer.concat([start, this.#content.copy()]);
    return { kind: 'base', id: 'base', token: this.#mark, payload };
  }

  #change({ kind, id, token, payload }: JournalRecord): void {
    if (kind === 'write' || kind === 'append' || kind === 'remove') this.#lastChange = id;
    switch (kind) {
      case 'base':
        this.#begin(payload);
        return;
      case 'write':
        this.#write(payload, token);
        return;
      case 'append':
        if (this.#content === undefined) this.#write(NOTHING, token);
        this.#content?.add(payload);
        this.#writtenUnder = token;
        return;
      case 'remove':
        this.#content = undefined;
        this.#writtenUnder = 0n;
        return;
      case 'seal':
        this.#isSealed = true;
        return;
      case 'claim':
        return;
    }
  }

  #begin(payload: Uint8Array): void {
    const first = payload.indexOf(SPACE);
    const second = payload.indexOf(SPACE, first + 1);
    const writtenUnder = textOf(payload.subarray(first + 1, second));
    if (writtenUnder !== '-') this.#write(payload.subarray(second + 1), BigInt(writtenUnder));
    this.#lastChange = textOf(payload.subarray(0, first));
  }

  #write(bytes: Uint8Array, token: bigint): void {
    this.#content = new Content(bytes);
    this.#writtenUnder = token;
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}
