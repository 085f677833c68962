import { afterEach, describe, expect, it } from '@jest/globals';
import { MemoryFencingMarks } from '../../../../lib/fencing/http/fencing-options.js';
import { LockConfigurationError, StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import { telling } from '../../../support/telling.js';

describe('marks in memory', () => {
  const before = process.env['NODE_ENV'];
  afterEach(() => {
    process.env['NODE_ENV'] = before;
  });

  it.each(['production', 'development', ''])(
    'are refused where NODE_ENV is %p, with what to take instead',
    (environment) => {
      process.env['NODE_ENV'] = environment;
      expect(() => new MemoryFencingMarks()).toThrow(LockConfigurationError);
      expect(() => new MemoryFencingMarks()).toThrow(/is for tests.*FencedFileStore, PostgresFence or RedisFence/);
    },
  );

  it('keep the rule of all stores', async () => {
    const marks = new MemoryFencingMarks();
    await marks.claim('/a', 5n);
    await marks.claim('/a', '5');
    await expect(marks.claim('/a', 4n)).rejects.toThrow(StaleFencingTokenError);
    await marks.claim('/b', 4n);
    await marks.claim('/a', 2n ** 63n - 1n);
    await expect(marks.claim('/a', 2n ** 63n - 2n)).rejects.toThrow(
      telling('has seen the fencing token 9223372036854775807'),
    );
  });
});
