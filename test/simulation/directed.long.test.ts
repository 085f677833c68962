import { describe, it } from '@jest/globals';
import { describeVerdict } from '../support/simulation/describe-verdict.js';
import { DIRECTED, playDirected } from '../support/simulation/directed.js';

const VARIATIONS = 40;
/** Virtual time passes at the machine's pace, which is no subject of these tests. */
const WITHIN_MS = 300_000;

describe('The promises of a lock', () => {
  it.each(Object.keys(DIRECTED))(
    'hold when this is played on purpose: %s',
    async (name) => {
      for (let variation = 1; variation <= VARIATIONS; variation += 1) {
        const verdict = await playDirected(name, variation);
        if (verdict.violations.length > 0) throw new Error(describeVerdict(verdict, name));
      }
    },
    WITHIN_MS,
  );
});
