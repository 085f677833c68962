import type { Mutant } from './mutant.js';

const MAX_WAITING = 'lib/engine/policy/max-waiting.ts';

/** Mistakes with how many may be ahead of a call that joins a queue. */
export const FULL_QUEUE_MUTANTS: readonly Mutant[] = [
  {
    name: 'a queue that is full with one place left',
    edits: [
      { file: MAX_WAITING, find: 'if (ahead <= bound) return;', replace: 'if (ahead < Math.max(bound, 1)) return;' },
    ],
    breaks: ['a full queue'],
    withinSeeds: 100,
  },
  {
    name: 'a queue that takes one too many',
    edits: [{ file: MAX_WAITING, find: 'if (ahead <= bound) return;', replace: 'if (ahead <= bound + 1) return;' }],
    breaks: ['a full queue'],
    withinSeeds: 100,
  },
  {
    name: 'calls of this process that nobody counts before they have a node',
    edits: [
      {
        file: MAX_WAITING,
        find: 'if (!own.has(its)) yield { mode: its.mode, id: undefined };',
        replace: 'if (own.has(its)) yield { mode: its.mode, id: undefined };',
      },
    ],
    breaks: ['a full queue'],
    withinSeeds: 500,
  },
  {
    name: 'calls of this process that count for those in front of them',
    edits: [{ file: MAX_WAITING, find: 'if (its === request) return;', replace: 'if (its === request) continue;' }],
    breaks: ['a full queue'],
    withinSeeds: 500,
  },
  {
    name: 'a contender that is made before the queue is read',
    edits: [
      {
        file: MAX_WAITING,
        find: 'this.#check(request, await this.#list(request, scope));\n      return await join();',
        replace:
          'const joined = join(); joined.catch(() => undefined);\n' +
          '      this.#check(request, await this.#list(request, scope));\n      return await joined;',
      },
    ],
    breaks: ['a full queue'],
    withinSeeds: 100,
  },
  {
    name: 'a queue of which only the contenders of this process are counted',
    edits: [
      {
        file: MAX_WAITING,
        find: 'this.#check(request, await this.#list(request, scope));',
        replace: 'await this.#list(request, scope);',
      },
    ],
    breaks: ['a full queue'],
    withinSeeds: 100,
  },
  {
    name: 'readers that count for a reader',
    edits: [
      {
        file: MAX_WAITING,
        find: 'countAhead(this.#aheadOf(request, listed), mode)',
        replace: "countAhead(this.#aheadOf(request, listed), mode === 'read' ? 'exclusive' : mode)",
      },
    ],
    breaks: ['a full queue'],
    withinSeeds: 100,
  },
  {
    name: 'holders that count one by one',
    edits: [
      {
        file: 'lib/queue/decide.ts',
        find: 'if (holds) isHeld = true;',
        replace: 'if (holds && !isHeld) isHeld = true;',
      },
    ],
    breaks: ['a full queue'],
    withinSeeds: 300,
  },
  {
    name: 'a look that is shared with somebody who asked long before',
    edits: [
      { file: MAX_WAITING, find: 'if (underWay.isNew) return underWay.answer;', replace: 'return underWay.answer;' },
    ],
    breaks: ['a full queue'],
    withinSeeds: 500,
  },
];
