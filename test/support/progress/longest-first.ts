import { createRequire } from 'node:module';
import type JestSequencer from '@jest/test-sequencer';
import { expectedDurations } from './durations.js';

type Options = ConstructorParameters<typeof JestSequencer.default>[0];
type Test = Parameters<JestSequencer.default['sort']>[0][number];
type Kind = 'computing' | 'waiting';

// The package's types are those of its CommonJS files, so it is these that are loaded.
const { default: TestSequencer } = createRequire(import.meta.url)('@jest/test-sequencer') as typeof JestSequencer;

/**
 * One worker computes while the others wait, and gives way to them (`priority.js`): no processor is idle, and no server is kept
 * waiting. Where it would not give way, what waits comes before what computes. The longest of both kinds come first, so that none is
 * alone at the end. A fresh clone is ordered like any other.
 */
export class LongestFirst extends TestSequencer {
  readonly #workers: Readonly<Record<Kind, number>>;

  constructor(
    options: Options,
    private readonly givesWay = canGiveWay(),
  ) {
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
    if (!this.givesWay) return longestFirst.sort((left, right) => kindOf(right).localeCompare(kindOf(left)));
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
  return context.config.globals['COMPUTES'] === true ? 'computing' : 'waiting';
}

/** Only root may raise the priority of a process again, which a worker does behind a file that computes. */
function canGiveWay(): boolean {
  return process.getuid?.() === 0;
}
