import type { Mutant } from './mutant.js';

/** Mistakes in what an operator does from outside, and in what those it concerns make of that. */
export const SURGERY_MUTANTS: readonly Mutant[] = [
  {
    name: 'a broken holder whose node is removed at once',
    edits: [
      {
        file: 'lib/engine/hold/hold.ts',
        find: 'const stays = isPutRight && this.#handles > 0;',
        replace: 'const stays = isPutRight && this.#handles > 1_000;',
      },
    ],
    breaks: ['kept out meanwhile'],
    withinSeeds: 300,
  },
  {
    name: 'a broken lock that goes when its caller is told, not when its work has ended',
    edits: [
      {
        file: 'lib/engine/hold/held-lock.ts',
        find: 'if (work === undefined || !hold.isBroken) return handle.release();',
        replace: 'if (work === undefined || hold.isLost) return handle.release();',
      },
    ],
    breaks: ['kept out meanwhile'],
    withinSeeds: 1_000,
  },
  {
    name: 'a token that is not compared',
    edits: [
      {
        file: 'lib/extras/doctor/queue-look.ts',
        find: 'const one = held.find((holder) => holder.token === token);',
        replace: 'const one = held[0];',
      },
    ],
    breaks: ['exactly that contender'],
    withinSeeds: 300,
  },
  {
    name: 'a holder that does not read that it was broken',
    edits: [
      {
        file: 'lib/engine/hold/hold.ts',
        find: 'contender.node.onBroken((breaking) => this.lose(breaking));',
        replace: '',
      },
    ],
    breaks: ['loss is told first'],
    withinSeeds: 1_000,
  },
  {
    name: 'a drained waiter that queues again',
    edits: [
      {
        file: 'lib/engine/acquire/acquire.ts',
        find: "if (end === 'removed') await refuseWhileDrained(this.#parts, request, scope);",
        replace: '',
      },
    ],
    breaks: ['waits are ended'],
    withinSeeds: 1_000,
  },
  {
    name: 'a broken holder that ends in order and stays in the record',
    edits: [
      {
        file: 'lib/engine/hold/hold.ts',
        find: "leaving === 'departed' ? orderlyRelease(this.parts, this) : []",
        replace: '[]',
      },
    ],
    breaks: ['recovered once'],
    withinSeeds: 300,
  },
  {
    name: 'a broken holder that is removed by force and takes itself out of the record',
    edits: [
      {
        file: 'lib/engine/hold/hold.ts',
        find: "leaving === 'departed' ? orderlyRelease(this.parts, this) : []",
        replace: 'orderlyRelease(this.parts, this)',
      },
    ],
    breaks: ['recovered once'],
    withinSeeds: 1_000,
  },
  {
    name: 'a broken recovery that goes when its caller is told, not when its function has ended',
    edits: [
      {
        file: 'lib/engine/hold/recovery.ts',
        find: 'void releaseBehind(repairing, lock);',
        replace: 'void handle.release();',
      },
    ],
    breaks: ['kept out meanwhile'],
    withinSeeds: 1_000,
  },
];
