import { describe, expect, it } from '@jest/globals';
import { runSeed } from '../support/simulation/run-seed.js';

/** Virtual time passes at the machine's pace, which is no subject of these tests. */
const WITHIN_MS = 300_000;

describe('A seed', () => {
  it(
    'replays exactly',
    async () => {
      const lines: string[][] = [[], []];
      for (let seed = 1; seed <= 30; seed += 1) {
        const [first, second] = [
          await runSeed(seed, (line) => lines[0]!.push(line)),
          await runSeed(seed, (line) => lines[1]!.push(line)),
        ];
        expect(second.digest).toBe(first.digest);
      }
      expect(lines[0]!.length).toBeGreaterThan(1_000);
      expect(lines[1]).toEqual(lines[0]);
    },
    WITHIN_MS,
  );

  it(
    'plays another run than another seed',
    async () => {
      const digests = new Set<string>();
      for (let seed = 1; seed <= 30; seed += 1) digests.add((await runSeed(seed)).digest);
      expect(digests.size).toBe(30);
    },
    WITHIN_MS,
  );
});
