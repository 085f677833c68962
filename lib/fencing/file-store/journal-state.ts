import { LockConfigurationError } from '../../lock/errors.js';
import { visible } from '../../lock/visible.js';
import { isStale } from '../token.js';
import type { JournalRecord } from './record.js';

/**
 * The state of a file: what the records of one journal amount to. It depends on nothing but their order, so all processes
 * that read the same journal come to the same state.
 */
export interface JournalState {
  /** The highest token of the records that count. */
  readonly mark: bigint;
  /** The token of the last record that wrote or appended; 0 where there is no content. */
  readonly writtenUnder: bigint;
  readonly content: Content | undefined;
  /** The record that made the content what it is. */
  readonly lastChange: string;
  readonly isSealed: boolean;
}

/** The state of a file that nobody has written or claimed. */
export const UNTOUCHED: JournalState = {
  mark: 0n,
  writtenUnder: 0n,
  content: undefined,
  lastChange: 'none',
  isSealed: false,
};

/** Whether a record counts; if not, why not. `overtaken`: the content has changed since the record was made for it. */
export type Verdict = 'counts' | 'stale' | 'sealed' | 'overtaken';

/**
 * The most that one file may have. The store keeps the whole file in memory, makes and reads each record in one go, and
 * begins each journal with the whole file. The event loop stands still meanwhile, for about 10 ms with each MiB.
 */
const MAX_CONTENT_BYTES = 16 * 1024 * 1024;
const SPACE = 0x20;

export function verdictOn(record: JournalRecord, state: JournalState): Verdict {
  if (state.isSealed) return 'sealed';
  if (isStale(record.token, state.mark)) return 'stale';
  return record.onlyAfter !== undefined && record.onlyAfter !== state.lastChange ? 'overtaken' : 'counts';
}

/** The state that a record makes of this one if it counts. An appended content grows where it is: the state before is over. */
export function stateAfter(before: JournalState, { kind, id, token, payload }: JournalRecord): JournalState {
  const state = { ...before, mark: token };
  switch (kind) {
    case 'base':
      return begun(state, payload);
    case 'write':
      return { ...state, lastChange: id, writtenUnder: token, content: new Content(payload) };
    case 'append': {
      const content = before.content?.add(payload) ?? new Content(payload);
      return { ...state, lastChange: id, writtenUnder: token, content };
    }
    case 'remove':
      return { ...state, lastChange: id, writtenUnder: 0n, content: undefined };
    case 'seal':
      return { ...state, isSealed: true };
    case 'claim':
      return state;
  }
}

/** The record with which the next journal begins. All processes make the same bytes of it. */
export function baseOf({ mark, writtenUnder, content, lastChange }: JournalState): JournalRecord {
  const start = Buffer.from(`${lastChange} ${content === undefined ? '-' : writtenUnder} `);
  const payload = content === undefined ? start : Buffer.concat([start, content.copy()]);
  return { kind: 'base', id: 'base', token: mark, payload };
}

function begun(state: JournalState, payload: Uint8Array): JournalState {
  const first = payload.indexOf(SPACE);
  const second = payload.indexOf(SPACE, first + 1);
  const lastChange = textOf(payload.subarray(0, first));
  const writtenUnder = textOf(payload.subarray(first + 1, second));
  if (writtenUnder === '-') return { ...state, lastChange };
  return {
    ...state,
    lastChange,
    writtenUnder: BigInt(writtenUnder),
    content: new Content(payload.subarray(second + 1)),
  };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

/** The bytes of a file, to which many small pieces can be added without copying the whole each time. */
export class Content {
  #pieces: Uint8Array[];
  #length: number;

  constructor(bytes: Uint8Array) {
    this.#pieces = [bytes];
    this.#length = bytes.length;
  }

  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array): this {
    this.#pieces.push(bytes);
    this.#length += bytes.length;
    return this;
  }

  /** The bytes in one piece, which the caller may change. */
  copy(): Buffer {
    const whole = Buffer.concat(this.#pieces, this.#length);
    if (this.#pieces.length > 1) this.#pieces = [Buffer.from(whole)];
    return whole;
  }
}

/** @throws LockConfigurationError */
export function assertFits(resource: string, bytes: number): void {
  if (bytes <= MAX_CONTENT_BYTES) return;
  throw new LockConfigurationError(
    `${visible(resource)} would have ${bytes} bytes; FencedFileStore takes ${MAX_CONTENT_BYTES} at most, as it keeps each file ` +
      'in memory. Nothing was written. Split it, or keep the content elsewhere under a name of its own and write that name',
    resource,
  );
}
