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

/** What a checkpoint of the harness says: which call wrote it, under which lock, and its number there. */
export interface Checkpoint {
  readonly by: string;
  readonly token: string;
  readonly number: number;
}

/** The checkpoints of one lock, by their numbers: those that were sent, and the last one that was confirmed. */
export class Checkpoints {
  sent = 0;
  confirmed = 0;
}

/** A call that asks something of the record of its key, known by its label. */
export class RecordCall {
  readonly recovery: Recovery | undefined;
  /** By the token: a call that queues again has several contenders, each with checkpoints of its own. */
  readonly #checkpoints = new Map<bigint, Checkpoints>();

  constructor(
    readonly app: AppProcess,
    readonly label: string,
    readonly wish: RecordWish,
  ) {
    if (wish.policy === 'recover') this.recovery = new Recovery();
  }

  checkpointsOf(token: bigint): Checkpoints {
    const known = this.#checkpoints.get(token) ?? new Checkpoints();
    this.#checkpoints.set(token, known);
    return known;
  }

  nextCheckpoint(token: bigint): Checkpoint {
    const checkpoints = this.checkpointsOf(token);
    checkpoints.sent += 1;
    return { by: this.label, token: String(token), number: checkpoints.sent };
  }

  /** @returns undefined where nothing else can be told of its contender; else what is wrong with the checkpoint that was told */
  whyWrong(token: bigint, told: unknown): string | undefined {
    const { sent, confirmed } = this.checkpointsOf(token);
    if (told === undefined) return confirmed === 0 ? undefined : `its checkpoint ${confirmed} was not told`;
    const { by, token: of, number } = told as Partial<Checkpoint>;
    if (by !== this.label || of !== String(token) || typeof number !== 'number')
      return `a checkpoint of another was told: ${JSON.stringify(told)}`;
    if (number < confirmed) return `its checkpoint ${number} was told, and ${confirmed} was confirmed`;
    return number > sent ? `its checkpoint ${number} was told, and it made ${sent}` : undefined;
  }
}

/** A lock with what it was told of, as the book of records compares it. */
export type Told = NonNullable<LockHandle['abandoned']>;
