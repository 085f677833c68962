import { describe, expect, it } from '@jest/globals';
import { judge } from '../support/neighbours/judge.js';
import type { Entry } from '../support/neighbours/journal.js';

type Step = [event: Entry['event'], maker: string, mode: Entry['mode'], sequence: number];

function verdictOn(...steps: Step[]): ReturnType<typeof judge> {
  return judge(
    steps.map(([event, maker, mode, sequence]) => {
      return { event, maker, mode, key: '/key', name: `${mode}-${String(sequence).padStart(10, '0')}` };
    }),
  );
}

describe('the judge of the journal', () => {
  it('finds nothing in holders that take turns, and counts the hand-overs', () => {
    const verdict = verdictOn(
      ['enter', 'ours', 'exclusive', 0],
      ['leave', 'ours', 'exclusive', 0],
      ['enter', 'kazoo', 'exclusive', 1],
      ['leave', 'kazoo', 'exclusive', 1],
      ['enter', 'ours', 'exclusive', 2],
    );
    expect(verdict.violations).toEqual([]);
    expect([...verdict.handOvers]).toEqual([
      ['ours > kazoo', 1],
      ['kazoo > ours', 1],
    ]);
  });

  it('finds nothing in readers that share and pass each other', () => {
    const verdict = verdictOn(
      ['enter', 'ours', 'read', 1],
      ['enter', 'curator', 'read', 0],
      ['leave', 'ours', 'read', 1],
      ['leave', 'curator', 'read', 0],
      ['enter', 'ours', 'write', 2],
    );
    expect(verdict).toMatchObject({ violations: [], mostReaders: 2 });
  });

  it.each<[string, Step[]]>([
    [
      'two writers',
      [
        ['enter', 'ours', 'exclusive', 0],
        ['enter', 'kazoo', 'exclusive', 1],
      ],
    ],
    [
      'a writer beside a reader',
      [
        ['enter', 'ours', 'read', 0],
        ['enter', 'kazoo', 'write', 1],
      ],
    ],
    [
      'a reader beside a writer',
      [
        ['enter', 'ours', 'write', 0],
        ['enter', 'kazoo', 'read', 1],
      ],
    ],
    [
      'a writer that is overtaken',
      [
        ['enter', 'ours', 'write', 1],
        ['leave', 'ours', 'write', 1],
        ['enter', 'kazoo', 'write', 0],
      ],
    ],
    [
      'a writer that a later reader passed',
      [
        ['enter', 'ours', 'read', 1],
        ['leave', 'ours', 'read', 1],
        ['enter', 'kazoo', 'write', 0],
      ],
    ],
    [
      'a reader that a later writer passed',
      [
        ['enter', 'ours', 'write', 1],
        ['leave', 'ours', 'write', 1],
        ['enter', 'kazoo', 'read', 0],
      ],
    ],
    ['a leave of nobody', [['leave', 'ours', 'write', 1]]],
  ])('finds %s', (_what, steps) => {
    expect(verdictOn(...steps).violations).toHaveLength(1);
  });
});
