import { beforeEach, describe, expect, it } from '@jest/globals';
import { ProgressReporter } from '../../support/progress/progress-reporter.js';

const FILES = 40;
const WORKERS = 2;
/** Each file of a run that is expected to take 80 s on two workers. */
const EXPECTED_MS = 4_000;

describe('The progress of a test run', () => {
  let now: number;
  let lines: string[];
  beforeEach(() => {
    now = 1_000;
    lines = [];
  });

  function reporter(isTerminal = false): ProgressReporter {
    const print = (text: string): void => void lines.push(text);
    const options = { maxWorkers: WORKERS, rootDir: '/repository' };
    return new ProgressReporter(options, {}, {}, { now: () => now, print, isTerminal });
  }

  /** Each file takes so long, and two run at a time. */
  function run(one: ProgressReporter, files: number, tookMs: number): void {
    one.onRunStart({ numTotalTestSuites: files }, { estimatedTime: (files * EXPECTED_MS) / WORKERS / 1_000 });
    for (let file = 1; file <= files; file += 1) {
      now += tookMs / WORKERS;
      const path = `/repository/test/unit/file-${file}.test.ts`;
      one.onTestResult({ path, duration: EXPECTED_MS }, { perfStats: { runtime: tookMs + file } });
    }
    one.onRunComplete();
  }

  it('is announced with the number of files and the time that they take', () => {
    run(reporter(), FILES, EXPECTED_MS);
    expect(lines[0]).toBe('[tests] 40 test files, which take about 80 s on two cores\n');
  });

  it('is told when a tenth of the work is done, with the time that is left on this machine', () => {
    run(reporter(), FILES, 3 * EXPECTED_MS);
    const told = lines.filter((line) => line.includes('%'));
    expect(told.slice(0, 2)).toEqual([
      '[tests] 10 %: 4 of 40 files, 24 s gone, about 3 min 40 s to go\n',
      '[tests] 20 %: 8 of 40 files, 48 s gone, about 3 min 10 s to go\n',
    ]);
    expect(told).toHaveLength(10);
  });

  it('is told every ten seconds at most', () => {
    run(reporter(), FILES, EXPECTED_MS);
    expect(lines.filter((line) => line.includes('%'))).toHaveLength(8);
  });

  it('is left to the status line of the runner on a terminal', () => {
    run(reporter(true), FILES, 3 * EXPECTED_MS);
    expect(lines.filter((line) => line.includes('%'))).toEqual([]);
  });

  it('ends with the five slowest files', () => {
    run(reporter(), FILES, EXPECTED_MS);
    const slowest = lines.slice(lines.findIndex((line) => line.includes('slowest')));
    expect(slowest[0]).toBe('[tests] the slowest of 40 files:\n');
    expect(slowest[1]).toBe('[tests]     4.0 s  test/unit/file-40.test.ts\n');
    expect(slowest).toHaveLength(6);
  });

  it('is not told to who runs a few files', () => {
    run(reporter(), 10, EXPECTED_MS);
    expect(lines).toEqual([]);
  });

  it('fits into 80 columns', () => {
    run(reporter(), FILES, 100 * EXPECTED_MS);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});
