import { expect } from '@jest/globals';

/** A lock error whose details say so: `toThrow(telling('others hold it'))`. Its message is for outsiders, and says less. */
export function telling(what: string | RegExp): object {
  return expect.objectContaining({
    details: typeof what === 'string' ? expect.stringContaining(what) : expect.stringMatching(what),
  });
}
