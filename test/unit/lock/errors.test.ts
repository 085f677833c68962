import { describe, expect, it } from '@jest/globals';
import { IntrinsicException } from '@nestjs/common';
import * as errors from '../../../lib/lock/errors.js';

const CASES = [
  [errors.LockTimeoutError, 'LOCK_TIMEOUT', 423],
  [errors.LockAbortedError, 'LOCK_ABORTED', 499],
  [errors.LockLostError, 'LOCK_LOST', 503],
  [errors.LockUnavailableError, 'LOCK_UNAVAILABLE', 503],
  [errors.LockClosedError, 'LOCK_CLOSED', 503],
  [errors.LockConfigurationError, 'LOCK_CONFIGURATION', 500],
  [errors.InvalidLockKeyError, 'INVALID_LOCK_KEY', 400],
  [errors.DeadlockError, 'DEADLOCK', 409],
  [errors.StaleFencingTokenError, 'STALE_FENCING_TOKEN', 409],
  [errors.InvalidFencingTokenError, 'INVALID_FENCING_TOKEN', 403],
] as const;

describe('The errors are a contract', () => {
  it.each(CASES)('%p: code, status, key and cause', (LockErrorClass, code, status) => {
    const cause = new Error('why');
    const error = new LockErrorClass('what happened', '/locks/a', { cause });
    expect(error).toBeInstanceOf(errors.LockError);
    expect(error).toBeInstanceOf(Error);
    // Nest does not log these as crashes of the application.
    expect(error).toBeInstanceOf(IntrinsicException);
    expect(error).toMatchObject({
      message: 'what happened',
      name: LockErrorClass.name,
      code,
      status,
      statusCode: status,
      key: '/locks/a',
      cause,
    });
  });

  it.each(CASES.map(([LockErrorClass]) => [LockErrorClass] as const))(
    '%p: nothing else is an instance of it, key and cause may be missing',
    (LockErrorClass) => {
      const error = new LockErrorClass('alone');
      const classes = CASES.map(([one]) => one).filter((one) => error instanceof one);
      expect(classes).toEqual([LockErrorClass]);
      expect([error.key, error.cause, Object.hasOwn(error, 'cause')]).toEqual([undefined, undefined, false]);
      expect(error.stack).toContain(`${LockErrorClass.name}: alone`);
    },
  );

  it('every class is in the table above', () => {
    const concrete = Object.keys(errors).filter((name) => name !== 'LockError');
    expect(CASES.map(([{ name }]) => name).sort()).toEqual(concrete.sort());
  });

  it('a configuration error is not for outsiders', () => {
    expect(new errors.LockConfigurationError('').expose).toBe(false);
    expect(new errors.LockTimeoutError('').expose).toBe(true);
  });
});
