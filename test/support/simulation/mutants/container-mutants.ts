import type { Mutant } from './mutant.js';

/** Mistakes with the containers of keys that nobody has ever waited at. */
export const CONTAINER_MUTANTS: readonly Mutant[] = [
  {
    name: 'a container that stays for good where its contender never arrived',
    edits: [
      {
        file: 'lib/engine/upkeep/janitor.ts',
        find: 'stat?.cversion ? undefined : await useUnusedContainer(this.#session, queuePath, marker)',
        replace: 'undefined as SessionError | undefined',
      },
    ],
    breaks: ['no litter'],
    withinSeeds: 40,
    directed: 'a contender never arrives at its container',
  },
  {
    name: 'a container of which only the key itself is looked at',
    edits: [
      {
        file: 'lib/engine/upkeep/key-nodes.ts',
        find: 'const paths = ancestry(queuePath);',
        replace: 'const paths = [queuePath];',
      },
    ],
    breaks: ['no litter'],
    withinSeeds: 40,
    directed: 'a contender never arrives at its container',
  },
];
