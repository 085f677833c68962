import type { Mutant } from './mutant.js';

/** Mistakes with a lock that is handed over inside a process while its queue is being drained. */
export const DRAINED_MUTANTS: readonly Mutant[] = [
  {
    name: 'a reader let in past the node of a neighbour that only waited',
    edits: [
      {
        file: 'lib/engine/acquire/known-queue.ts',
        find: "own.mode === 'exclusive' || own.mode === 'write'",
        replace: 'own.mode !== undefined',
      },
    ],
    breaks: ['granted is held'],
    withinSeeds: 40,
    directed: 'drained while its neighbour gives up',
  },
  {
    name: 'a removal that is not guarded with one that could not enter at once',
    edits: [
      {
        file: 'lib/engine/acquire/turns.ts',
        find: "if (isGuarded || basis === 'a giving up') this.unconfirmed.add(member);",
        replace: '',
      },
    ],
    breaks: ['granted is held'],
    withinSeeds: 40,
    directed: 'drained while its neighbour gives up its turn',
  },
];
