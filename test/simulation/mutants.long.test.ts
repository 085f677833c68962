import { describe, expect, it } from '@jest/globals';
import { expectMutantsToBeCaught, MUTANT_WITHIN_MS } from '../support/simulation/expect-mutants.js';
import { QUICK_MUTANTS } from '../support/simulation/mutants/all-mutants.js';
import { MUTANTS } from '../support/simulation/mutants/mutants.js';
import { runMutant } from '../support/simulation/mutants/run-mutant.js';

describe('The checkers catch', () => expectMutantsToBeCaught(QUICK_MUTANTS));

describe('The engine as it is', () => {
  it(
    'passes in a copy, too',
    async () => {
      expect(await runMutant([], '--seeds', '100')).toMatchObject({ seedsRun: 100, violations: [] });
    },
    MUTANT_WITHIN_MS,
  );

  it.each(MUTANTS.filter(({ surroundings }) => surroundings !== undefined))(
    'bears what is wrong around: $name',
    async ({ surroundings }) => {
      expect(await runMutant(surroundings!, '--seeds', '300')).toMatchObject({ seedsRun: 300, violations: [] });
    },
    MUTANT_WITHIN_MS,
  );
});
