import { LockAbortedError } from '../../lock/errors.js';

/** The lock was taken, and given back because the stream or iteration under it was not taken up in time. Nobody aborted the wait. */
abstract class GivenBackError extends LockAbortedError {
  override readonly name = LockAbortedError.name;
}

export class NotSubscribedError extends GivenBackError {
  static override readonly outward: string = 'The lock was given back, because nobody subscribed to its stream in time';

  constructor(by: string, withinMs: number, key: string) {
    super(
      `Nobody subscribed within ${withinMs} ms to what ${by} returned, so its lock ${key} was given back. Subscribe to it at ` +
        'once, or raise subscribeWithinMs in @Locked',
      key,
    );
  }
}

export class NotAskedForError extends GivenBackError {
  static override readonly outward: string =
    'The lock was given back, because the next value under it was not asked for in time';

  constructor(by: string, withinMs: number, key: string) {
    super(
      `Nobody asked for the next value of what ${by} returned within ${withinMs} ms of the one before, so its lock ${key} was ` +
        'given back. A loop that takes longer than that for one value needs a higher subscribeWithinMs in @Locked',
      key,
    );
  }
}
