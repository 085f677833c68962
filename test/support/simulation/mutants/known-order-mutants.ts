import type { Mutant } from './mutant.js';

const KNOWN_ORDER = 'lib/engine/acquire/known-queue.ts';

/** Mistakes with contenders that take their places without a list, as the numbers of those of their process show who is ahead. */
export const KNOWN_ORDER_MUTANTS: readonly Mutant[] = [
  {
    name: 'numbers that are trusted though the key was made again',
    edits: [{ file: KNOWN_ORDER, find: '  onWatchEvent(): void {', replace: '  onWatchEvent(): void { return;' }],
    breaks: ['first come, first served', 'one holder'],
    withinSeeds: 40,
    directed: 'its key is made again',
  },
  {
    name: 'a watch on a key that is not set again with the next link',
    edits: [
      {
        file: 'lib/session/core/watch-registry.ts',
        find: 'for (const path of registry.paths(kind)) {',
        replace: 'for (const path of registry.paths(kind)) { if (!/\\d{10}$/.test(path)) continue;',
      },
    ],
    breaks: ['first come, first served', 'one holder'],
    withinSeeds: 40,
    directed: 'its key is made again without its link',
  },
  {
    name: 'a watch on a key that counts as set although its answer was lost',
    edits: [
      {
        file: KNOWN_ORDER,
        find: 'if (outcome instanceof SessionError) return;',
        replace: 'if (outcome instanceof SessionError) { this.#isWatched = true; return; }',
      },
    ],
    breaks: ['first come, first served', 'one holder'],
    withinSeeds: 40,
    directed: 'its key is made again unwatched',
  },
  {
    name: 'a gap in the numbers that is taken for somebody who came and went',
    edits: [
      {
        file: KNOWN_ORDER,
        find: 'return this.#isWatched && this.#newest !== undefined && sequence === this.#newest + 1;',
        replace: 'return this.#isWatched && this.#newest !== undefined && sequence > this.#newest;',
      },
    ],
    breaks: ['first come, first served', 'one holder'],
    withinSeeds: 40,
    directed: 'others come in between',
  },
  {
    name: 'a watch on a key that stays though its record makes it of no use',
    edits: [
      {
        file: KNOWN_ORDER,
        find: 'this.#session.unwatch(this.#path, this);\n      return;',
        replace: 'return;',
      },
    ],
    breaks: ['no herd'],
    withinSeeds: 40,
    directed: 'its key has a record',
  },
];
