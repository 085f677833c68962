import { describe, expect, it } from '@jest/globals';
import type { ContestantName } from '../../bench/contestants.js';
import { barRows } from '../../bench/lock-bars.js';
import { LockFigures } from '../../bench/lock-figures.js';
import { contestantsOf, lockSeconds, planLocks } from '../../bench/lock-plan.js';
import type { StageName } from '../../bench/lock-stages.js';

const SCENARIOS = [
  ...['200-keys', 'uncontended', 'delayed', '50-contenders', '8-processes'],
  ...['record-uncontended', 'record-200-keys'],
];

function chosen(stage?: string, scenario?: string): Record<string, string[]> {
  const { parts } = planLocks({ stage, scenario });
  return Object.fromEntries(parts.map(({ stage: { name }, scenarios }) => [name, scenarios.map((one) => one.name)]));
}

describe('the plan of the benchmark of locks', () => {
  it('is all scenarios at one server, one with its own pool of threads, and all but the delayed one at the leader and at a follower of three', () => {
    const three = SCENARIOS.filter((name) => name !== 'delayed');
    expect(chosen()).toEqual({
      one: SCENARIOS,
      'one-pool': ['uncontended'],
      'three-leader': three,
      'three-follower': three,
    });
  });

  it('is one scenario of two stages when the beginnings of their names say so', () => {
    const fifty = ['50-contenders'];
    expect(chosen('three', '50')).toEqual({ 'three-leader': fifty, 'three-follower': fifty });
  });

  it('has only the stages that have the scenario', () => {
    expect(chosen(undefined, 'delayed')).toEqual({ one: ['delayed'] });
  });

  it('starts a Redis only where redlock takes part, which is with 50 contenders at one server', () => {
    const hasRedlock = (stage: string, scenario: string): boolean =>
      contestantsOf(planLocks({ stage, scenario })).has('redlock');
    expect([hasRedlock('one', '50'), hasRedlock('one', '8'), hasRedlock('three', '50')]).toEqual([true, false, false]);
  });

  it('takes as long as its turns and the starts of its servers', () => {
    const [all, part] = [planLocks({}), planLocks({ stage: 'one', scenario: '50', rounds: 2 })];
    expect(lockSeconds(all)).toBeGreaterThan(6 * 60);
    // Four contestants, two rounds that count and two before them, a second each.
    expect(lockSeconds(part)).toBeGreaterThan(16);
    expect(lockSeconds(part)).toBeLessThan(60);
  });
});

/** Two rounds, alike. */
function played(stage: StageName, scenario: string, figure: string, all: Partial<Record<ContestantName, number>>) {
  const figures = new LockFigures(stage);
  for (const [name, value] of [...Object.entries(all), ...Object.entries(all)]) {
    figures.add(scenario, name as ContestantName, { [figure]: value });
  }
  return barRows(stage, figures).map(({ name, verdict }) => [name, verdict]);
}

describe('the bars of the benchmark of locks', () => {
  it.each<[StageName, string, string, number, Partial<Record<ContestantName, number>>]>([
    ['one', '50-contenders', 'handovers_s', 4_000, { curator: 1_000, redlock: 4_000 }],
    ['one', '8-processes', 'handovers_s', 1_300, { curator: 1_000 }],
    ['three-leader', '200-keys', 'cycles_s', 1_400, { curator: 1_000 }],
    ['three-follower', '200-keys', 'cycles_s', 1_200, { curator: 1_000 }],
    ['three-leader', '50-contenders', 'handovers_s', 3_000, { curator: 1_000 }],
    ['three-follower', '50-contenders', 'handovers_s', 3_000, { curator: 1_000 }],
  ])('are passed at %s, %s, by so many %s, and not by fewer', (stage, scenario, figure, least, others) => {
    const verdicts = (ours: number) => played(stage, scenario, figure, { ours, ...others }).map(([, said]) => said);
    expect(new Set(verdicts(least))).toEqual(new Set(['met']));
    expect(new Set(verdicts(least - 1))).toEqual(new Set(['not met']));
  });

  it.each<StageName>(['three-leader', 'three-follower'])(
    'are passed at %s by 0.85 of the time of Curator, and not by more',
    (stage) => {
      const verdict = (ours: number) => played(stage, 'uncontended', 'acquire_p50_ms', { ours, curator: 100 });
      const bar = `${stage}, uncontended: acquire_p50_ms to curator`;
      expect([verdict(85), verdict(86)]).toEqual([[[bar, 'met']], [[bar, 'not met']]]);
    },
  );

  it('say so where somebody was left out, and nothing of scenarios that were not played', () => {
    expect(played('one', '50-contenders', 'handovers_s', { ours: 1, curator: 1 })).toEqual([
      ['one, 50-contenders: handovers_s to curator', 'not met'],
      ['one, 50-contenders: handovers_s to redlock', 'not compared'],
    ]);
  });
});
