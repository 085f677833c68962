import { expect, it } from '@jest/globals';
import type { Mutant } from './mutants/mutant.js';
import { runMutant } from './mutants/run-mutant.js';

export const MUTANT_WITHIN_MS = 120_000;

/** One test for each: the checkers must say what is wrong with it, not only that something is. */
export function expectMutantsToBeCaught(mutants: readonly Mutant[]): void {
  it.each(mutants)(
    '$name',
    async (mutant) => {
      const { violations } = await runMutant([...mutant.edits, ...(mutant.surroundings ?? [])], ...optionsOf(mutant));
      expect(mutant.breaks).toContain(violations[0]?.promise ?? 'nothing');
    },
    MUTANT_WITHIN_MS,
  );
}

function optionsOf({ withinSeeds, directed }: Mutant): string[] {
  return ['--seeds', String(withinSeeds), ...(directed === undefined ? [] : ['--directed', directed])];
}
