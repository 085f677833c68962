import type { LockFigures } from './lock-figures.js';
import type { Row } from './report.js';

interface Bar {
  readonly what: string;
  readonly figure: (figures: LockFigures) => number | undefined;
  readonly least?: number;
  readonly most?: number;
}

const SLOWEST_ACQUIRE_MS = 5;

/** How fast our locks are to be; of pairs, so that the machine's other work counts for both. */
const BARS: readonly Bar[] = [
  {
    what: 'uncontended, p50 to the floor',
    figure: (figures) => figures.ratio('lock-uncontended', 'acquire_p50_ms', 'ours', 'floor'),
    most: 1.15,
  },
  {
    what: 'uncontended, p50 to Curator',
    figure: (figures) => figures.ratio('lock-uncontended', 'acquire_p50_ms', 'ours', 'curator'),
    most: 1,
  },
  {
    what: 'uncontended and delayed, p50 to Curator',
    figure: (figures) => figures.ratio('lock-uncontended-delayed', 'acquire_p50_ms', 'ours', 'curator'),
    most: 0.8,
  },
  {
    what: 'uncontended, p99 to the floor',
    figure: (figures) => figures.ratio('lock-uncontended', 'acquire_p99_ms', 'ours', 'floor'),
    most: 1.5,
  },
  {
    what: 'uncontended, p99 in milliseconds',
    figure: (figures) => figures.median('lock-uncontended', 'ours', 'acquire_p99_ms'),
    most: SLOWEST_ACQUIRE_MS,
  },
  {
    what: '200 keys, cycles to Curator',
    figure: (figures) => figures.ratio('lock-200-keys', 'cycles_s', 'ours', 'curator'),
    least: 1.5,
  },
  {
    what: '50 contenders, hand-overs to Curator (an aim)',
    figure: (figures) => figures.ratio('lock-50-contenders', 'handovers_s', 'ours', 'curator'),
    least: 2,
  },
  {
    what: '8 processes, hand-overs to Curator (an aim)',
    figure: (figures) => figures.ratio('lock-8-processes', 'handovers_s', 'ours', 'curator'),
    least: 2,
  },
];

export function barRows(figures: LockFigures): Row[] {
  return BARS.map((bar) => ({
    name: bar.what,
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
