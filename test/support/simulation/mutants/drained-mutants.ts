import type { Mutant } from './mutant.js';

/** Nobody is let in by a neighbour that gives up, either: alone neither rule is missed here. */
const GIVING_UP_HANDS_OVER = {
  file: 'lib/engine/acquire/key-queue.ts',
  find: "member.hold !== undefined ? 'a hand-over' : 'a giving up'",
  replace: "'a hand-over'",
};

/** Mistakes with a lock that is handed over inside a process while its queue is being drained. */
export const DRAINED_MUTANTS: readonly Mutant[] = [
  {
    name: 'a reader let in past the node of a neighbour that only waited',
    edits: [
      GIVING_UP_HANDS_OVER,
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
      GIVING_UP_HANDS_OVER,
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
