import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { IntrinsicException } from '@nestjs/common';
import * as errors from '../../../lib/lock/errors.js';

const CASES = [
  [errors.LockTimeoutError, 'LOCK_TIMEOUT', 423],
  [errors.LockAbortedError, 'LOCK_ABORTED', 499],
  [errors.LockLostError, 'LOCK_LOST', 503],
  [errors.LockUnavailableError, 'LOCK_UNAVAILABLE', 503],
  [errors.LockClosedError, 'LOCK_CLOSED', 503],
  [errors.LockQueueFullError, 'LOCK_QUEUE_FULL', 429],
  [errors.LockAbandonedError, 'LOCK_ABANDONED', 423],
  [errors.LockConfigurationError, 'LOCK_CONFIGURATION', 500],
  [errors.InvalidLockKeyError, 'INVALID_LOCK_KEY', 400],
  [errors.DeadlockError, 'DEADLOCK', 409],
  [errors.StaleFencingTokenError, 'STALE_FENCING_TOKEN', 409],
  [errors.InvalidFencingTokenError, 'INVALID_FENCING_TOKEN', 403],
] as const;

describe('As the errors are a contract,', () => {
  it.each(CASES)('%p has its code, status, key and cause', (LockErrorClass, code, status) => {
    const cause = new Error('why');
    const error = new LockErrorClass('what happened', '/locks/a', { cause });
    expect(error).toBeInstanceOf(errors.LockError);
    expect(error).toBeInstanceOf(Error);
    // Nest does not log these as crashes of the application.
    expect(error).toBeInstanceOf(IntrinsicException);
    expect(error).toMatchObject({
      details: 'what happened',
      name: LockErrorClass.name,
      code,
      status,
      statusCode: status === 500 ? undefined : status,
      key: '/locks/a',
      cause,
    });
  });

  it.each(CASES.map(([LockErrorClass]) => [LockErrorClass] as const))(
    '%p is an instance of no other one, and its key and cause may be missing',
    (LockErrorClass) => {
      const error = new LockErrorClass('alone');
      const classes = CASES.map(([one]) => one).filter((one) => error instanceof one);
      expect(classes).toEqual([LockErrorClass]);
      expect([error.key, error.cause, Object.hasOwn(error, 'cause')]).toEqual([undefined, undefined, false]);
    },
  );

  it.each(CASES)('%p tells GraphQL its code', (...[LockErrorClass, code]) => {
    const error = new LockErrorClass('alone');
    expect(error.extensions).toEqual({ code });
    expect(inspect(error)).not.toContain('extensions');
  });

  it('every class is in the table of this test', () => {
    const concrete = Object.keys(errors).filter((name) => name !== 'LockError' && name !== 'detailsOf');
    expect(CASES.map(([{ name }]) => name).sort()).toEqual(concrete.sort());
  });

  it.each(CASES)(
    '%p says nothing of keys, servers and addresses to outsiders, and all of it to logs',
    (...[LockErrorClass]) => {
      const cause = new Error('connect ECONNREFUSED 10.0.0.5:2181');
      const details = 'The lock /tenants/acme cannot be reached: zk1:2181 said ECONNREFUSED';
      const error = new LockErrorClass(details, '/tenants/acme', { cause });

      expect(error.message).toMatch(/^The |^This |^A value /);
      expect(`${error.message} ${String(error)} ${error.stack}`).not.toMatch(/acme|zk1|ECONNREFUSED|2181/);
      expect(inspect(error)).toContain(details);
      const { name, code, message, status } = error;
      expect(JSON.parse(JSON.stringify({ error }))).toEqual({ error: { name, code, message, status } });
    },
  );

  it.each(CASES)('%p has no line of its own made by a name or a key', (...[LockErrorClass]) => {
    const error = new LockErrorClass('refused a\r\nERROR [Auth]\u2028 of \u001b[2J', '/a');
    expect(error.details).toBe('refused a\\u000d\\u000aERROR [Auth]\\u2028 of \\u001b[2J');
    expect(error.message).not.toMatch(/[\n\r\u2028\u001b]/);
  });

  it('a configuration error without a key says what is wrong: the application ends with it, or was never asked', () => {
    const error = new errors.LockConfigurationError('connect: must name a server');
    expect(error.message).toBe('connect: must name a server');
    expect(inspect(error).match(/must name a server/g)).toHaveLength(1);

    const quoted = new errors.LockConfigurationError(`The lock ${JSON.stringify('/a"b')} is held`, '/a"b');
    expect(quoted.message).toBe('The lock is misconfigured or misused: the details are in the log');
  });

  it('a configuration error is not for outsiders', () => {
    expect(new errors.LockConfigurationError('').expose).toBe(false);
    const told = JSON.stringify(new errors.LockConfigurationError('connect: zk1:2181 names no server'));
    expect(told).toMatch(/"LOCK_CONFIGURATION".*the details are in the log/);
    expect(told).not.toContain('zk1');
    expect(new errors.LockTimeoutError('').expose).toBe(true);
  });
});
