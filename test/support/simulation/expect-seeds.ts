import { expect, it } from '@jest/globals';
import { runMutant } from './mutants/run-mutant.js';

const CHUNK = 500;
const CHUNK_WITHIN_MS = 180_000;

/**
 * One test for each chunk of seeds, in a process of its own: inside the test runner's sandbox the same schedules take
 * six times as long. `npm run simulate -- --seed N --trace` shows the one that fails.
 */
export function expectSeedsToHold(from: number, count: number): void {
  for (let first = from; first < from + count; first += CHUNK) {
    const last = Math.min(first + CHUNK, from + count) - 1;
    it(
      `hold in the schedules ${first} to ${last}`,
      async () => {
        const { failed, violations, grants } = await runMutant(
          [],
          '--from',
          `${first}`,
          '--seeds',
          `${last - first + 1}`,
        );
        expect({ failed, violations }).toEqual({ failed: undefined, violations: [] });
        // A fleet that never gets a lock breaks no promise, and shows nothing.
        expect(grants).toBeGreaterThan((last - first) * 10);
      },
      CHUNK_WITHIN_MS,
    );
  }
}
