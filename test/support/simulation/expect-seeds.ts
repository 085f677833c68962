import { expect, it } from '@jest/globals';
import { describeVerdict } from './describe-verdict.js';
import { runSeed } from './run-seed.js';

const CHUNK = 500;
const CHUNK_WITHIN_MS = 180_000;

/** One test for each chunk of seeds: what fails first says how to see it again. */
export function expectSeedsToHold(from: number, count: number): void {
  for (let first = from; first < from + count; first += CHUNK) {
    const last = Math.min(first + CHUNK, from + count) - 1;
    it(
      `holds in the schedules ${first} to ${last}`,
      async () => {
        let grants = 0;
        for (let seed = first; seed <= last; seed += 1) {
          const verdict = await runSeed(seed);
          if (verdict.violations.length > 0) throw new Error(describeVerdict(verdict));
          grants += verdict.grants;
        }
        // A fleet that never gets a lock breaks no promise, and shows nothing.
        expect(grants).toBeGreaterThan((last - first) * 10);
      },
      CHUNK_WITHIN_MS,
    );
  }
}
