import { expect, it } from '@jest/globals';
import { clientUnderTest } from './client-under-test.js';
import { runMutant } from './mutants/run-mutant.js';
import { RARE_STATES, type RareState } from './rare-states.js';

const CHUNK = 250;
const CHUNK_WITHIN_MS = 180_000;

/**
 * One test for each chunk of seeds, in a process of its own: inside the test runner's sandbox the same schedules take
 * six times as long. `npm run simulate -- --seed N --trace` shows the one that fails.
 */
export function expectSeedsToHold(from: number, count: number): void {
  const reached = new Set<RareState>();
  for (let first = from; first < from + count; first += CHUNK) {
    const last = Math.min(first + CHUNK, from + count) - 1;
    it(
      `hold in the schedules ${first} to ${last}`,
      async () => {
        const options = ['--from', `${first}`, '--seeds', `${last - first + 1}`];
        const { failed, violations, grants, reached: here } = await runMutant([], ...options);
        expect({ failed, violations }).toEqual({ failed: undefined, violations: [] });
        // A fleet that never gets a lock breaks no promise, and shows nothing.
        expect(grants).toBeGreaterThan((last - first) * 10);
        for (const state of RARE_STATES) if (here[state] > 0) reached.add(state);
      },
      CHUNK_WITHIN_MS,
    );
  }
  // A promise that is never put to the test is kept by every engine. The client native writes no records.
  if (count >= CHUNK && clientUnderTest() !== 'native')
    it('were put to the test: each rare state was reached by some schedule', () => {
      expect(RARE_STATES.filter((state) => !reached.has(state))).toEqual([]);
    });
}
