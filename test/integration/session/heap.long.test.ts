import { describe, expect, it } from '@jest/globals';
import { heapGrowth } from './heap-growth.js';

/** Less than twenty bytes for each cycle: a call that stayed behind would take hundreds. */
const ALLOWED_BYTES = 600_000;

describe('30 000 create, list and delete cycles', () => {
  it(
    'leave the heap where it was',
    async () => {
      expect(await heapGrowth(30_000, 60_000)).toBeLessThan(ALLOWED_BYTES);
    },
    60_000 + 10_000,
  );
});
