import type { LockHandle } from '../../../lib/lock/handle.js';
import type { AppProcess } from './app-process.js';
import type { Grant } from './grants.js';
import type { RecordWish } from './record-draws.js';

/** The application's own failure: must come through as it is. */
export class OwnError extends Error {
  override readonly name = 'OwnError';
}

/** What has become of the recover function of a call. */
export class Recovery {
  state: 'not begun' | 'runs' | 'failed' | 'ran' = 'not begun';
  readonly error = new OwnError('cannot recover');
  grant: Grant | undefined;
  begin: () => void = () => undefined;
  end: () => void = () => undefined;
  readonly begun = new Promise<void>((resolve) => (this.begin = resolve));
  readonly ended = new Promise<void>((resolve) => (this.end = resolve));
}

/** A call that asks something of the record of its key, known by its label. */
export class RecordCall {
  readonly recovery: Recovery | undefined;
  /** The numbers of the checkpoints that were sent, and of the last one that was confirmed. */
  sent = 0;
  confirmed = 0;

  constructor(
    readonly app: AppProcess,
    readonly label: string,
    readonly wish: RecordWish,
  ) {
    if (wish.policy === 'recover') this.recovery = new Recovery();
  }

  /** What a checkpoint says: who wrote it, and the number. */
  nextCheckpoint(): { readonly by: string; readonly number: number } {
    this.sent += 1;
    return { by: this.label, number: this.sent };
  }

  /** @returns undefined where nothing else can be told of it; else what is wrong with what was told */
  whyWrong(told: unknown): string | undefined {
    if (told === undefined) return this.confirmed === 0 ? undefined : `its checkpoint ${this.confirmed} was not told`;
    const { by, number } = told as { readonly by?: unknown; readonly number?: unknown };
    if (by !== this.label || typeof number !== 'number')
      return `a checkpoint of another was told: ${JSON.stringify(told)}`;
    if (number < this.confirmed) return `its checkpoint ${number} was told, and ${this.confirmed} was confirmed`;
    return number > this.sent ? `its checkpoint ${number} was told, and it made ${this.sent}` : undefined;
  }
}

/** A lock with what it was told of, as the book of records compares it. */
export type Told = NonNullable<LockHandle['abandoned']>;
