import { LockConfigurationError } from '../../lock/errors.js';

/**
 * JavaScript calls `transaction` with whatever is at hand. Options that nobody reads would make it wait for longer than they say.
 * @throws LockConfigurationError for anything but a function alone
 */
export function checkTransactionCall(work: unknown, more: readonly unknown[], waitMs: number): void {
  const hasMore = more.some((argument) => argument !== undefined);
  if (typeof work === 'function' && !hasMore) return;
  const misuse = hasMore
    ? 'transaction(work) takes no options, and nothing beside its work'
    : `transaction(work): work must be a function of the transaction, not ${shown(work)}`;
  throw new LockConfigurationError(
    `${misuse}. What counts is the waitMs of the lock service, ${waitMs} ms for all of its waits together. Write ` +
      'transaction(async (tx) => { ... }), and set waitMs in forRoot or createLockService; where one transaction needs another ' +
      'time, make a second lock service that has it',
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `of type ${typeof value}`;
}
