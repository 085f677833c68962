import type { ContestantName } from './contestants.js';
import type { LockFigures } from './lock-figures.js';
import type { StageName } from './lock-stages.js';
import type { Row } from './report.js';

interface Bar {
  readonly scenario: string;
  readonly what: string;
  readonly figure: (figures: LockFigures) => number | undefined;
  readonly least?: number;
  readonly most?: number;
}

const SLOWEST_ACQUIRE_MS = 5;

/** How fast our locks are to be; of pairs, so that the machine's other work counts for both. */
const BARS: Readonly<Record<StageName, readonly Bar[]>> = {
  one: [
    { ...ratio('uncontended', 'acquire_p50_ms', 'curator'), most: 1 },
    { ...ratio('delayed', 'acquire_p50_ms', 'curator'), most: 0.8 },
    { ...ratio('uncontended', 'acquire_p99_ms', 'floor'), most: 1.5 },
    {
      scenario: 'uncontended',
      what: 'acquire_p99_ms',
      figure: (figures) => figures.median('uncontended', 'ours', 'acquire_p99_ms'),
      most: SLOWEST_ACQUIRE_MS,
    },
    { ...ratio('200-keys', 'cycles_s', 'curator'), least: 1.5 },
    { ...ratio('50-contenders', 'handovers_s', 'curator'), least: 4 },
    { ...ratio('50-contenders', 'handovers_s', 'redlock'), least: 1 },
    { ...ratio('8-processes', 'handovers_s', 'curator'), least: 1.3 },
  ],
  'one-pool': [
    { ...ratio('uncontended', 'acquire_p50_ms', 'floor'), most: 1.15 },
    { ...ratio('uncontended', 'acquire_p50_ms', 'curator'), most: 1 },
    { ...ratio('uncontended', 'acquire_p99_ms', 'floor'), most: 1.5 },
  ],
  'three-leader': barsOfThree({ cyclesToCurator: 1.4 }),
  'three-follower': barsOfThree({ cyclesToCurator: 1.2 }),
};

function barsOfThree({ cyclesToCurator }: { cyclesToCurator: number }): readonly Bar[] {
  return [
    { ...ratio('uncontended', 'acquire_p50_ms', 'curator'), most: 0.85 },
    { ...ratio('200-keys', 'cycles_s', 'curator'), least: cyclesToCurator },
    { ...ratio('50-contenders', 'handovers_s', 'curator'), least: 3 },
  ];
}

function ratio(scenario: string, figure: string, other: ContestantName): Pick<Bar, 'scenario' | 'what' | 'figure'> {
  return {
    scenario,
    what: `${figure} to ${other}`,
    figure: (figures) => figures.ratio(scenario, figure, 'ours', other),
  };
}

/** What is asked of our locks in the scenarios of this stage that were played. */
export function barRows(stage: StageName, figures: LockFigures): Row[] {
  return BARS[stage]
    .filter(({ scenario }) => figures.has(scenario))
    .map((bar) => ({
      name: `${stage}, ${bar.scenario}: ${bar.what}`,
      scenario: 'lock-bars',
      bar: bar.least === undefined ? `at most ${bar.most}` : `at least ${bar.least}`,
      ...verdict(bar, bar.figure(figures)),
    }));
}

function verdict(
  { least = -Infinity, most = Infinity }: Bar,
  figure: number | undefined,
): Record<string, number | string> {
  if (figure === undefined) return { verdict: 'not compared' };
  return { figure, verdict: figure >= least && figure <= most ? 'met' : 'not met' };
}
