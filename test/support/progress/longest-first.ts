import { createRequire } from 'node:module';
import type JestSequencer from '@jest/test-sequencer';
import { expectedDurations } from './durations.js';

type Options = ConstructorParameters<typeof JestSequencer.default>[0];
type Test = Parameters<JestSequencer.default['sort']>[0][number];
type Kind = 'computing' | 'waiting';

// The package's types are those of its CommonJS files, so it is these that are loaded.
const { default: TestSequencer } = createRequire(import.meta.url)('@jest/test-sequencer') as typeof JestSequencer;

/** Their files compute for as long as they run; all others wait for servers, sessions and processes most of the time. */
const COMPUTING = new Set(['unit', 'simulation', 'package']);

/**
 * One worker computes while the others wait: no processor is idle, and a server is hardly kept waiting by neighbours that have
 * them all. The longest of both kinds come first, so that none is alone at the end. A fresh clone is ordered like any other.
 */
export class LongestFirst extends TestSequencer {
  readonly #workers: Readonly<Record<Kind, number>>;

  constructor(options: Options) {
    super(options);
    this.#workers = { computing: 1, waiting: Math.max(1, options.globalConfig.maxWorkers - 1) };
  }

  override sort(tests: Test[]): Test[] {
    const expected = expectedDurations();
    // The runner adds these up to an estimate for the whole run.
    for (const test of tests) test.duration = expected(test.path);
    const longestFirst = [...tests].sort(
      (left, right) => (right.duration ?? 0) - (left.duration ?? 0) || (left.path < right.path ? -1 : 1),
    );
    // Workers take what is next in the list, whatever its kind. So each file stands where its own kind's workers would begin it.
    const startsMs = new Map<Test, number>();
    const endsMs: Record<Kind, number> = { computing: 0, waiting: 0 };
    for (const test of longestFirst) {
      const kind = kindOf(test);
      startsMs.set(test, endsMs[kind]);
      endsMs[kind] += (test.duration ?? 0) / this.#workers[kind];
    }
    return longestFirst.sort((left, right) => startsMs.get(left)! - startsMs.get(right)!);
  }
}

function kindOf({ context }: Test): Kind {
  return COMPUTING.has(context.config.displayName?.name ?? '') ? 'computing' : 'waiting';
}
