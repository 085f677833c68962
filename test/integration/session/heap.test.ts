import { describe, expect, it } from '@jest/globals';
import { heapGrowth } from './heap-growth.js';

/** Less than twenty bytes for each cycle: a call that stayed behind would take hundreds. */
const ALLOWED_BYTES = 200_000;

describe('10 000 create, list and delete cycles', () => {
  it(
    'leave the heap where it was',
    async () => {
      expect(await heapGrowth(10_000, 40_000)).toBeLessThan(ALLOWED_BYTES);
    },
    40_000 + 10_000,
  );
});
