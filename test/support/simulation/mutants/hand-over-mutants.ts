import type { Mutant } from './mutant.js';

const KEY_QUEUE = 'lib/engine/acquire/key-queue.ts';
const KNOWN_QUEUE = 'lib/engine/acquire/known-queue.ts';
const TURNS = 'lib/engine/acquire/turns.ts';
const KEY_QUEUES = 'lib/engine/acquire/key-queues.ts';
const JANITOR = 'lib/engine/upkeep/janitor.ts';

/** Mistakes with a lock that is handed over inside a process, and with what the contenders of one process share. */
export const HAND_OVER_MUTANTS: readonly Mutant[] = [
  {
    name: 'a lock that was lost handed over',
    edits: [
      {
        file: KEY_QUEUE,
        find: "const isDeparted = leaving === 'departed' && this.#handsOver && member.excludesAll;",
        replace: 'const isDeparted = this.#handsOver && member.excludesAll;',
      },
    ],
    breaks: ['first come, first served'],
    withinSeeds: 100,
  },
  {
    name: 'a queue that is kept although its session has ended',
    edits: [
      { file: KEY_QUEUES, find: 'if (queue.identity === session.identity) {', replace: 'if (true) {' },
      {
        file: KEY_QUEUES,
        find: 'return queue?.identity === this.#session.identity ? queue : undefined;',
        replace: 'return queue;',
      },
    ],
    breaks: ['liveness'],
    withinSeeds: 40,
    directed: 'its session ends while neighbours wait',
  },
  {
    name: 'contenders of another session that count as departed',
    edits: [
      {
        file: KNOWN_QUEUE,
        find: 'readonly #departed = new Map<string, DepartedNode>();',
        replace: 'readonly #departed = ((globalThis as any).departed ??= new Map<string, DepartedNode>());',
      },
    ],
    breaks: ['first come, first served', 'one holder'],
    withinSeeds: 100,
  },
  {
    name: "a reader let in beside the one of another process behind its neighbour's writer",
    edits: [
      {
        file: TURNS,
        find: 'return this.#waitsFor(member, decision, basis);',
        replace:
          "if (basis === 'a hand-over' && member.node.mode === 'read') { this.#letEnter(member, basis); return undefined; }\n" +
          'return this.#waitsFor(member, decision, basis);',
      },
    ],
    breaks: ['first come, first served', 'one holder'],
    withinSeeds: 300,
  },
  {
    name: 'a hand-over past those of others that are in between',
    edits: [
      {
        file: TURNS,
        find: 'return this.#waitsFor(member, decision, basis);',
        replace:
          "if (basis === 'a hand-over') { this.#letEnter(member, basis); return undefined; }\n" +
          'return this.#waitsFor(member, decision, basis);',
      },
    ],
    breaks: ['first come, first served', 'one holder'],
    withinSeeds: 100,
  },
  {
    name: 'a removal that is not guarded',
    edits: [{ file: KEY_QUEUE, find: 'return this.#turns.unconfirmed.guard;', replace: 'return undefined;' }],
    breaks: ['granted is held'],
    withinSeeds: 40,
    directed: 'removed behind its neighbour',
  },
  {
    name: 'a removal that is not guarded with one that is only looked for',
    edits: [
      {
        file: TURNS,
        find: "if (basis === 'a hand-over' || basis === 'a giving up') this.unconfirmed.add(member);",
        replace: '',
      },
    ],
    breaks: ['granted is held'],
    withinSeeds: 40,
    directed: 'removed behind its neighbour, at servers that lag',
  },
  {
    name: 'a removal that is guarded only when it is tried first',
    edits: [
      {
        file: JANITOR,
        find: 'return this.#add(() => (isAlone ? this.#removeEach(paths) : this.#removeTogether(paths, also, guard)));',
        replace:
          'let tries = 0;\n' +
          'return this.#add(() => (isAlone ? this.#removeEach(paths) : this.#removeTogether(paths, also, tries++ === 0 ? guard : undefined)));',
      },
    ],
    breaks: ['granted is held'],
    withinSeeds: 40,
    directed: 'removed behind its neighbour, whose removal is lost',
  },
  {
    name: 'one whose node is missing that is not told before the node in front of it goes',
    edits: [
      {
        file: JANITOR,
        find: 'for (const path of missing) guard?.missing(path);',
        replace: 'if (missing.length > 0) return this.#removeEach(paths);',
      },
    ],
    breaks: ['granted is held'],
    withinSeeds: 40,
    directed: 'removed behind its neighbour',
  },
  {
    name: "a hand-over that is covered by a reader's node",
    edits: [
      {
        file: KEY_QUEUE,
        find: "const isDeparted = leaving === 'departed' && this.#handsOver && member.excludesAll;",
        replace: "const isDeparted = leaving === 'departed' && this.#handsOver;",
      },
    ],
    breaks: ['granted is held'],
    withinSeeds: 40,
    directed: 'removed behind a reader',
  },
  {
    name: 'an entry past a reader that is about to be removed',
    edits: [
      {
        file: KEY_QUEUE,
        find: "const isDeparted = leaving === 'departed' && this.#handsOver && member.excludesAll;",
        replace: "const isDeparted = leaving === 'departed' && this.#handsOver;",
      },
      {
        file: KEY_QUEUE,
        find: "this.#turns.decide(!isDeparted ? 'no news'",
        replace: "this.#turns.decide(!isDeparted || !member.excludesAll ? 'no news'",
      },
    ],
    breaks: ['granted is held'],
    withinSeeds: 40,
    directed: 'removed behind a reader, at servers that lag',
  },
  {
    name: 'a reader handed the lock that an upgrader may have overlooked',
    edits: [
      {
        file: KNOWN_QUEUE,
        find: '({ hasHeld }) => !hasHeld',
        replace: '({ hasHeld }) => hasHeld',
      },
    ],
    breaks: ['one holder'],
    withinSeeds: 40,
    directed: 'a neighbour gives up while an upgrader asks who is inside',
  },
  {
    name: 'a reader let in past the node of a neighbour while an upgrader asks who is inside',
    edits: [
      {
        file: TURNS,
        find: 'const decision = decideIn(this.#parts.known.nodesFor(member.node), member.node);',
        replace: 'const decision = decideIn(this.#parts.known.nodes, member.node);',
      },
    ],
    breaks: ['one holder'],
    withinSeeds: 40,
    directed: 'a neighbour gives up while an upgrader asks who is inside',
  },
  {
    name: 'an upgrader that takes nobody behind a departed writer for one that is inside',
    edits: [
      {
        file: 'lib/queue/decide.ts',
        find: "else if (index > upgrader && node.mode !== 'upgradeable') break;",
        replace: "else if (node.mode !== 'upgradeable') break;",
      },
    ],
    breaks: ['one holder'],
    withinSeeds: 40,
    directed: 'upgrades behind its neighbour',
  },
  {
    name: 'one that no list has shown lets itself in',
    edits: [{ file: TURNS, find: 'if (!member.isSeen) {', replace: 'if (Number.NaN > 0) {' }],
    breaks: ['first come, first served', 'one holder', 'granted is held'],
    withinSeeds: 100,
  },
  {
    name: 'no look after a reconnect',
    edits: [{ file: KEY_QUEUE, find: 'if (this.#mustLook || this.blockers.isWatching) this.#look();', replace: '' }],
    breaks: ['liveness'],
    withinSeeds: 40,
    directed: 'its link goes while it begins to wait',
  },
  {
    name: 'the end of one that only waited, taken for a release',
    edits: [
      {
        file: 'lib/engine/acquire/blockers.ts',
        find: 'this.#listener.removed(name, watch.wasHolder);',
        replace: 'this.#listener.removed(name, true);',
      },
    ],
    breaks: ['first come, first served', 'one holder'],
    withinSeeds: 100,
  },
  {
    name: 'one that gives up and says that it has released the lock',
    edits: [
      {
        file: 'lib/engine/acquire/acquire.ts',
        find: 'contender.record?.undo(), contender',
        replace: 'contender.releaseMarks, contender',
      },
    ],
    breaks: ['first come, first served', 'one holder'],
    withinSeeds: 200,
  },
  {
    name: 'one that lets readers in beside it and says that nobody is ahead',
    edits: [
      {
        file: 'lib/engine/contender.ts',
        find: "if (!this.hasWaited || (mode !== 'exclusive' && mode !== 'write')) return NOTHING;",
        replace: 'if (!this.hasWaited || mode === undefined) return NOTHING;',
      },
      {
        file: 'lib/engine/acquire/blockers.ts',
        find: "const leavesMark = ours && (mode === 'exclusive' || mode === 'write');",
        replace: 'const leavesMark = ours && mode !== undefined;',
      },
    ],
    breaks: ['first come, first served', 'one holder'],
    withinSeeds: 40,
  },
  {
    name: 'a watch for the mark of one that leaves none, which stays',
    edits: [
      {
        file: 'lib/engine/acquire/blockers.ts',
        find: 'if (markPath !== undefined && !wasHolder) this.#session.unwatch(markPath, mark);',
        replace: 'void [markPath, mark, wasHolder];',
      },
    ],
    breaks: ['no litter'],
    withinSeeds: 40,
  },
];
