import { LockAbortedError } from '../../lock/errors.js';

/** The lock was acquired, and released because the stream or iteration under it was not begun in time. Nobody aborted the wait. */
abstract class ReleasedEarlyError extends LockAbortedError {
  override readonly name = LockAbortedError.name;
}

export class NotSubscribedError extends ReleasedEarlyError {
  static override readonly outward: string = 'The lock was released, because nobody subscribed to its stream in time';

  constructor(by: string, withinMs: number, key: string) {
    super(
      `Nobody subscribed within ${withinMs} ms to what ${by} returned, so its lock ${key} was released. Subscribe to it at ` +
        'once, or raise subscribeWithinMs in @Locked',
      key,
    );
  }
}

export class NotAskedForError extends ReleasedEarlyError {
  static override readonly outward: string =
    'The lock was released, because the next value under it was not asked for in time';

  constructor(by: string, withinMs: number, key: string) {
    super(
      `Nobody asked for the next value of what ${by} returned within ${withinMs} ms of the one before, so its lock ${key} was ` +
        'released. A loop that takes longer than that for one value needs a higher subscribeWithinMs in @Locked',
      key,
    );
  }
}
