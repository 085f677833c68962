import type { ContestantName } from './contestants.js';
import { REDLOCK_SETTINGS } from './drivers/redlock.js';

/** What a contestant's processes are told in one turn, and what is made of their answers. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly contestants: readonly ContestantName[];
  /** How many processes of a contestant take part. */
  readonly processes: number;
  /** Whether a proxy that delays every request stands in between. */
  readonly delayed: boolean;
  readonly durationMs: number;
  /** What has to be known of a contestant to compare its figures. */
  readonly remarks?: Partial<Readonly<Record<ContestantName, string>>>;
  /** The command, as lock-worker.ts knows it; `key` is the contestant's own. */
  command(key: string, durationMs: number): readonly (string | number)[];
  /** Contestants of one process that share a turn of twice the time, and change places in it all the time. */
  readonly together?: readonly ContestantName[];
  /** Each process of a contestant plays this for itself before the first round, or the figures are those of its compiler. */
  readonly alsoWarmedBy?: (key: string) => readonly (string | number)[];
  /** So many rounds more do not count before the first. Eight processes share what warms up their compilers. */
  readonly extraWarmUpRounds?: number;
  /** Columns of the report. */
  figures(
    answers: readonly ReadonlyMap<string, number>[],
    durationMs: number,
    name: ContestantName,
  ): Readonly<Record<string, number>>;
}

const EVERYBODY: readonly ContestantName[] = ['ours', 'floor', 'curator', 'kazoo'];
/** Our locks, and ours with `onAbandoned`. */
const RECORDS: readonly ContestantName[] = ['ours', 'recorded'];
/** The floor excludes nobody, so it hands nothing over. */
const LOCKS: readonly ContestantName[] = ['ours', 'curator', 'kazoo'];
const WAYS = 200;
const CONTENDERS = 50;
const PROCESSES = 8;
export const WARMED_FOR_MS = 1_500;
export const DELAY_MS = 1;

const REDLOCK_REMARK =
  'its locks are neither fair nor fenced nor durable; ours are fair (in order of arrival), fenced (a token that rises) and ' +
  'durable (in the log of ZooKeeper, which is not forced to the disk here). It asks again without end ' +
  `(${Object.entries(REDLOCK_SETTINGS).flat().join(' ')}). entries_s counts contenders that took the lock ` +
  'again at once, too; handovers_s does not.';

const alone: Pick<Scenario, 'contestants' | 'processes' | 'command' | 'together' | 'figures'> = {
  contestants: EVERYBODY,
  processes: 1,
  command: (key, durationMs) => ['alone', key, durationMs],
  together: ['ours', 'floor'],
  figures: ([answer], _durationMs, name) => {
    // Those that run in Node say whose figure it is.
    const of = (figure: string): number => answer!.get(`${name}.${figure}`) ?? answer!.get(figure)!;
    return { acquire_p50_ms: of('p50'), acquire_p99_ms: of('p99') };
  },
};

const spread: Pick<Scenario, 'processes' | 'delayed' | 'durationMs' | 'command' | 'figures'> = {
  processes: 1,
  delayed: false,
  durationMs: 1_000,
  command: (key, durationMs) => ['spread', key, WAYS, durationMs],
  figures: ([answer]) => ({
    cycles_s: answer!.get('cyclesPerSecond')!,
    cpu_us_per_cycle: answer!.get('cpuMicrosPerCycle')!,
  }),
};

/** The busiest first: behind it the compilers of all have done their work, and latencies mean something. */
export const SCENARIOS: readonly Scenario[] = [
  { ...spread, name: '200-keys', title: `${WAYS} keys at once`, contestants: EVERYBODY },
  {
    ...alone,
    name: 'uncontended',
    title: 'one after the other',
    delayed: false,
    durationMs: 800,
    // Where this scenario is asked for by itself, nothing busier has made the compilers of the server do their work.
    alsoWarmedBy: (key) => ['spread', key, WAYS, WARMED_FOR_MS],
  },
  {
    ...alone,
    name: 'delayed',
    title: `one after the other, each request delayed by ${DELAY_MS} ms`,
    delayed: true,
    durationMs: 600,
  },
  {
    name: '50-contenders',
    title: `${CONTENDERS} contenders on one key, in one process`,
    contestants: [...LOCKS, 'redlock'],
    processes: 1,
    delayed: false,
    durationMs: 1_000,
    remarks: { redlock: REDLOCK_REMARK },
    command: (key, durationMs) => ['crowd', key, CONTENDERS, durationMs],
    figures: ([answer], durationMs) => ({
      handovers_s: (answer!.get('handed')! / durationMs) * 1_000,
      entries_s: (answer!.get('entered')! / durationMs) * 1_000,
      fewest_of_one: answer!.get('fewest')!,
      most_of_one: answer!.get('most')!,
    }),
  },
  {
    name: '8-processes',
    title: `${PROCESSES} processes on one key`,
    contestants: LOCKS,
    processes: PROCESSES,
    delayed: false,
    durationMs: 1_000,
    command: (key, durationMs) => ['crowd', key, 1, durationMs],
    alsoWarmedBy: (key) => ['spread', key, CONTENDERS, WARMED_FOR_MS],
    extraWarmUpRounds: 17,
    figures: (answers, durationMs) => {
      const entered = answers.map((answer) => answer.get('entered')!);
      return {
        handovers_s: (entered.reduce((sum, count) => sum + count, 0) / durationMs) * 1_000,
        fewest_of_one: Math.min(...entered),
        most_of_one: Math.max(...entered),
      };
    },
  },
  {
    ...alone,
    name: 'record-uncontended',
    title: 'one after the other, without and with the record of the key',
    delayed: false,
    durationMs: 800,
    contestants: RECORDS,
    together: RECORDS,
  },
  {
    ...spread,
    name: 'record-200-keys',
    title: `${WAYS} keys at once, without and with their records`,
    contestants: RECORDS,
  },
];
