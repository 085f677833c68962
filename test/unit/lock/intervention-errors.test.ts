import { describe, expect, it } from '@jest/globals';
import { LockError, LockLostError } from '../../../lib/lock/errors.js';
import { LockBrokenError, LockDrainedError } from '../../../lib/lock/intervention-errors.js';

const WHY = { by: 'ada', reason: 'stuck since noon' };

describe('The errors of an intervention', () => {
  it.each([
    [LockBrokenError, 'LOCK_BROKEN', true],
    [LockDrainedError, 'LOCK_DRAINED', false],
  ])('%p says who and why, inside only', (ErrorClass, code, isLoss) => {
    const cause = new Error('why');
    const error = new ErrorClass('what happened to /locks/a', '/locks/a', { ...WHY, cause });
    expect(error).toBeInstanceOf(LockError);
    expect(error instanceof LockLostError).toBe(isLoss);
    expect(error).toMatchObject({ name: ErrorClass.name, code, status: 503, statusCode: 503, key: '/locks/a', cause });
    expect(error).toMatchObject({ ...WHY, details: 'what happened to /locks/a', extensions: { code } });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: ErrorClass.name,
      code,
      message: error.message,
      status: 503,
    });
    expect(error.message).not.toMatch(/ada|noon|locks\/a/);
  });
});
