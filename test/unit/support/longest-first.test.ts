import { describe, expect, it } from '@jest/globals';
import { LongestFirst } from '../../support/progress/longest-first.js';

type Tests = Parameters<LongestFirst['sort']>[0];
type Options = ConstructorParameters<typeof LongestFirst>[0];

const COMPUTING = ['unit', 'simulation', 'package'];

/** Files that nobody has measured, which are taken for equally long, by the names of their projects. */
function ordered(maxWorkers: number, projects: readonly string[], givesWay = true): string {
  const tests = projects.map((name, index) => ({
    path: `/elsewhere/${index}.test.ts`,
    context: { config: { displayName: { name, color: 'white' }, globals: { COMPUTES: COMPUTING.includes(name) } } },
  }));
  const sequencer = new LongestFirst({ contexts: [], globalConfig: { maxWorkers } } as unknown as Options, givesWay);
  const sorted = sequencer.sort(tests as unknown as Tests);
  return sorted.map(({ context }) => context.config.displayName?.name).join(' ');
}

describe('The order of test files', () => {
  it('has one that computes beside as many that wait as there are other workers', () => {
    const projects = ['unit', 'unit', 'e2e', 'e2e', 'e2e', 'e2e'];
    expect(ordered(3, projects)).toBe('unit e2e e2e unit e2e e2e');
    expect(ordered(2, projects)).toBe('unit e2e unit e2e e2e e2e');
  });

  it('has those of either kind that are left one behind the other', () => {
    expect(ordered(3, ['unit', 'package', 'simulation', 'contract'])).toBe('unit contract package simulation');
    expect(ordered(3, ['unit', 'interop', 'integration', 'e2e', 'contract'])).toBe(
      'unit interop integration e2e contract',
    );
  });

  it('is the same with one worker for all', () => {
    expect(ordered(1, ['unit', 'unit', 'e2e', 'e2e'])).toBe('unit e2e unit e2e');
  });

  it('has those that wait first, where those that compute would not give way', () => {
    expect(ordered(3, ['unit', 'unit', 'e2e', 'e2e', 'e2e'], false)).toBe('e2e e2e e2e unit unit');
  });
});
