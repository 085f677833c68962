import { relative } from 'node:path';
import { recordDurations } from './durations.js';

/** What the runner hands to a reporter, as far as this one reads it. */
export interface RunOptions {
  readonly maxWorkers: number;
  readonly rootDir: string;
}
export interface Totals {
  readonly numTotalTestSuites: number;
}
export interface TestFile {
  readonly path: string;
  /** Expected, in milliseconds: the sequencer has written it here. */
  readonly duration?: number;
}
export interface FileResult {
  readonly perfStats: { readonly runtime: number };
}

export interface Surroundings {
  readonly now: () => number;
  readonly print: (text: string) => void;
  /** Whether the runner's own reporter shows a status line, which replaces ours. */
  readonly isTerminal: boolean;
}

/** Who runs a few files knows which. */
const FEW_FILES = 10;
const LINE_EVERY_MS = 10_000;
const LINE_EVERY_PERCENT = 10;
const SLOWEST_SHOWN = 5;

const HERE: Surroundings = {
  now: () => performance.now(),
  // As the runner's own reporter does: what goes to the standard output is the report that `--json` asks for.
  print: (text) => void process.stderr.write(text),
  isTerminal: process.stdout.isTTY === true && process.stderr.isTTY === true,
};

/** Says how long a run will take, how far it is, and what took longest. Results are told by the runner's own reporter. */
export class ProgressReporter {
  readonly #tookMs = new Map<string, number>();
  #files = 0;
  #expectedMs = 0;
  #expectedWorkMs = 0;
  #doneWorkMs = 0;
  #startedAt = 0;
  #lineAt = 0;
  #linePercent = 0;

  constructor(
    private readonly options: RunOptions,
    _ownOptions: unknown,
    _context: unknown,
    private readonly surroundings: Surroundings = HERE,
  ) {}

  onRunStart({ numTotalTestSuites }: Totals, { estimatedTime }: { readonly estimatedTime: number }): void {
    this.#files = numTotalTestSuites;
    this.#expectedMs = estimatedTime * 1_000;
    this.#expectedWorkMs = this.#expectedMs * Math.min(this.options.maxWorkers, numTotalTestSuites);
    this.#doneWorkMs = 0;
    this.#tookMs.clear();
    this.#startedAt = this.#lineAt = this.surroundings.now();
    this.#linePercent = 0;
    if (this.#isWorthTelling()) {
      this.#say(`${this.#files} test files, which take about ${duration(this.#expectedMs)} on two cores`);
    }
  }

  onTestResult({ path, duration: expectedMs = 0 }: TestFile, { perfStats }: FileResult): void {
    this.#tookMs.set(path, perfStats.runtime);
    this.#doneWorkMs += expectedMs;
    if (!this.#isWorthTelling() || this.surroundings.isTerminal) return;
    const now = this.surroundings.now();
    const share = Math.min(this.#doneWorkMs / this.#expectedWorkMs, 1);
    const percent = Math.round(share * 100);
    if (now - this.#lineAt < LINE_EVERY_MS || percent - this.#linePercent < LINE_EVERY_PERCENT) return;
    this.#lineAt = now;
    this.#linePercent = percent;
    const goneMs = now - this.#startedAt;
    const leftMs = (goneMs / share) * (1 - share);
    const files = `${this.#tookMs.size} of ${this.#files} files`;
    this.#say(`${percent} %: ${files}, ${duration(goneMs)} gone, about ${duration(leftMs)} to go`);
  }

  onRunComplete(): void {
    if (process.env['RECORD_DURATIONS'] === '1') recordDurations(this.#tookMs);
    if (!this.#isWorthTelling()) return;
    const slowest = [...this.#tookMs].sort(([, left], [, right]) => right - left).slice(0, SLOWEST_SHOWN);
    this.#say(`the slowest of ${this.#tookMs.size} files:`);
    for (const [path, ms] of slowest) {
      this.#say(`${(ms / 1_000).toFixed(1).padStart(7)} s  ${relative(this.options.rootDir, path)}`);
    }
  }

  /** The runner asks for it: a reporter may make a run fail. */
  getLastError(): undefined {
    return undefined;
  }

  #isWorthTelling(): boolean {
    return this.#files > FEW_FILES;
  }

  #say(line: string): void {
    this.surroundings.print(`[tests] ${line}\n`);
  }
}

/** As people say it: to the second below two minutes, to ten seconds above. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const rounded = Math.round(seconds / 10) * 10;
  return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
}
