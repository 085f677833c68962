import { createRequire } from 'node:module';
import type JestSequencer from '@jest/test-sequencer';
import { expectedDurations } from './durations.js';

type Test = Parameters<JestSequencer.default['sort']>[0][number];

// The package's types are those of its CommonJS files, so it is these that are loaded.
const { default: TestSequencer } = createRequire(import.meta.url)('@jest/test-sequencer') as typeof JestSequencer;

/** Their files compute for as long as they run; all others wait for servers, sessions and processes most of the time. */
const COMPUTING = new Set(['unit', 'simulation', 'package']);

/**
 * What waits comes before what computes, so that a server is not kept waiting by a neighbour that has the processor. The
 * longest come first in both, so that none is alone at the end. A fresh clone is ordered like any other.
 */
export class LongestFirst extends TestSequencer {
  override sort(tests: Test[]): Test[] {
    const expected = expectedDurations();
    // The runner adds these up to an estimate for the whole run.
    for (const test of tests) test.duration = expected(test.path);
    const computes = ({ context }: Test): number => Number(COMPUTING.has(context.config.displayName?.name ?? ''));
    return [...tests].sort(
      (left, right) =>
        computes(left) - computes(right) ||
        (right.duration ?? 0) - (left.duration ?? 0) ||
        (left.path < right.path ? -1 : 1),
    );
  }
}
