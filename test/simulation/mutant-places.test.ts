import { describe, expect, it } from '@jest/globals';
import { ALL_MUTANTS } from '../support/simulation/mutants/all-mutants.js';
import { catchingSeeds } from '../support/simulation/mutants/catching-seeds.js';
import { edited } from '../support/simulation/mutants/mutated-tree.js';

/** Whether it is caught takes minutes to find out; that a rewritten line has lost its mutant should be told at once. */
describe('A mutant', () => {
  it.each(ALL_MUTANTS)('finds the lines to change: $name', ({ edits, surroundings = [] }) => {
    const all = [...edits, ...surroundings];
    for (const file of new Set(all.map((edit) => edit.file))) {
      const ofThis = all.filter((edit) => edit.file === file);
      expect(edited(file, ofThis)).not.toBe(edited(file, []));
    }
  });

  it('has a recorded seed only if it is still there, and only one within which it must be caught', () => {
    const within = new Map(ALL_MUTANTS.map(({ name, withinSeeds }) => [name, withinSeeds]));
    expect(Object.entries(catchingSeeds()).filter(([name, seed]) => !(seed <= (within.get(name) ?? 0)))).toEqual([]);
  });
});
