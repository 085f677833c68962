import type { Mutant } from './mutant.js';

const ACQUIRE = 'lib/engine/acquire/acquire.ts';
const KEY_QUEUE = 'lib/engine/acquire/key-queue.ts';
const KNOWN_QUEUE = 'lib/engine/acquire/known-queue.ts';
const HOLD = 'lib/engine/hold/hold.ts';
const KEY_RECORD = 'lib/queue/key-record.ts';
const KEY_RECORDS = 'lib/engine/policy/key-records.ts';
const RECORD_ENTRY = 'lib/engine/record-entry.ts';

/** Mistakes with what a key remembers of those who were inside. */
export const RECORD_MUTANTS: readonly Mutant[] = [
  {
    name: 'an entry by a hand-over that does not read the record',
    edits: [
      {
        file: KEY_QUEUE,
        find: 'return this.#session.hasMultis && !this.hasRecord;',
        replace: 'return this.#session.hasMultis;',
      },
      {
        file: ACQUIRE,
        find: 'tryEnter: () => (rules.readsRecord(request, queue) ? undefined : this.#enter(contender, scope)),',
        replace: 'tryEnter: () => this.#enter(contender, scope),',
      },
    ],
    breaks: ['recovered once', 'once per occurrence', 'first come, first served'],
    withinSeeds: 100,
  },
  {
    name: 'an entry that does not read the record where its own call asks for nothing',
    edits: [
      {
        file: 'lib/engine/policy/entry.ts',
        find: 'return usesRecord || queue?.hasRecord === true;',
        replace: 'return usesRecord;',
      },
    ],
    breaks: ['recovered once', 'once per occurrence'],
    withinSeeds: 100,
  },
  {
    name: 'a record that nobody sees in the names of a queue',
    edits: [
      {
        file: KNOWN_QUEUE,
        find: 'this.#hasRecord = hasData || nodes.some(({ usesRecord }) => usesRecord);',
        replace: 'this.#hasRecord = hasData;',
      },
      { file: KEY_QUEUE, find: 'this.#usesRecord ||= contender.request.usesRecord;', replace: '' },
    ],
    breaks: ['recovered once', 'once per occurrence', 'first come, first served'],
    withinSeeds: 300,
  },
  {
    name: "a record that nobody sees by the size of the key's node",
    edits: [
      {
        file: KNOWN_QUEUE,
        find: 'this.#hasRecord = hasData || nodes.some(({ usesRecord }) => usesRecord);',
        replace: 'void hasData; this.#hasRecord = nodes.some(({ usesRecord }) => usesRecord);',
      },
    ],
    breaks: ['recovered once', 'once per occurrence'],
    withinSeeds: 100,
  },
  {
    name: 'a lost lock that takes its holder out of the record',
    edits: [
      {
        file: HOLD,
        find: "this.#removeNodes('lost', undo ?? []);",
        replace: "this.#removeNodes('lost', this.contender.record?.release() ?? []);",
      },
    ],
    breaks: ['recovered once'],
    withinSeeds: 100,
  },
  {
    name: 'a release that leaves its holder in the record',
    edits: [{ file: 'lib/engine/hold/ending.ts', find: '[...releaseMarks, ...changes]', replace: 'releaseMarks' }],
    breaks: ['recovered once', 'honest errors'],
    withinSeeds: 100,
  },
  {
    name: 'a release of its own, after the node has gone',
    edits: [
      {
        file: HOLD,
        find: "return this.#removeNodes('departed', orderlyRelease(this.parts, this));",
        replace:
          'const parts = this.contender.record?.release() ?? [];\n' +
          "return this.#removeNodes('departed', this.contender.releaseMarks).then(() => void (parts.length > 0 && this.parts.session.batch(parts)));",
      },
    ],
    breaks: ['recovered once', 'honest errors'],
    withinSeeds: 100,
  },
  {
    name: 'a contender that gives up and stays in the record',
    edits: [{ file: ACQUIRE, find: 'contender.record?.undo(), contender', replace: 'undefined, contender' }],
    breaks: ['recovered once', 'honest errors'],
    withinSeeds: 300,
  },
  {
    name: 'an entry whose answer was lost, and that counts as not written',
    edits: [
      {
        file: KEY_RECORDS,
        find: 'if (!isAboutTheLink(answer)) contender.record = before;',
        replace: 'contender.record = undefined;',
      },
    ],
    breaks: ['recovered once', 'once per occurrence', 'honest errors'],
    withinSeeds: 300,
  },
  {
    name: 'an entry that is refused in favour of an earlier one of its contender, and forgets that one',
    edits: [
      {
        file: KEY_RECORDS,
        find: 'if (!isAboutTheLink(answer)) contender.record = before;',
        replace: 'if (!isAboutTheLink(answer)) contender.record = undefined;',
      },
    ],
    breaks: ['recovered once'],
    directed: 'writes its name twice',
    withinSeeds: 40,
  },
  {
    name: 'an entry whose answer was lost, and that is taken back by the version of the record alone',
    edits: [
      {
        file: RECORD_ENTRY,
        find: 'isWritten(found) ? [',
        replace: 'found.stat.version === stat.version + 1 ? [',
      },
    ],
    breaks: ['recovered once'],
    directed: 'gives up while an operator clears the record',
    withinSeeds: 40,
  },
  {
    name: 'an entry whose answer was lost, and that is looked for without a write in front of the look',
    edits: [
      {
        file: 'lib/engine/upkeep/janitor.ts',
        find: 'batch([remove(`${paths[0]!}/never-there`), get(also.path)])',
        replace: 'batch([exists(paths[0]!), get(also.path)])',
      },
    ],
    breaks: ['recovered once'],
    directed: 'gives up while its name is not shown',
    withinSeeds: 40,
  },
  {
    name: 'a holder that is taken for one that vanished, as it left between the look at the record and that at the queue',
    edits: [
      {
        file: 'lib/engine/policy/earlier-tries.ts',
        find: 'const isSameRecord = listed.stat.mzxid === parent.stat.mzxid;',
        replace: 'const isSameRecord = true;',
      },
    ],
    breaks: ['recovered once'],
    directed: 'a holder releases while another one looks',
    withinSeeds: 40,
  },
  {
    name: 'a call that does not wait for its recovery',
    edits: [
      {
        file: 'lib/engine/hold/recovery.ts',
        find: 'await untilDoneOrLost(repairing, hold, events);',
        replace: 'void untilDoneOrLost(repairing, hold, events).catch(() => undefined);',
      },
    ],
    breaks: ['recovered once'],
    withinSeeds: 100,
  },
  {
    name: 'a recovery that is not written down',
    edits: [{ file: 'lib/engine/hold/recovery.ts', find: 'await hold.recordWrites.recovered();', replace: '' }],
    breaks: ['recovered once'],
    withinSeeds: 100,
  },
  {
    name: 'a recovery that failed, and that nobody tries again',
    edits: [
      {
        file: RECORD_ENTRY,
        find: 'this.#isRecoveryOwed ? this.#before.data : encodeRecord({ lastRun })',
        replace: 'encodeRecord({ lastRun })',
      },
    ],
    breaks: ['recovered once'],
    withinSeeds: 300,
  },
  {
    name: 'a recoverer that forgets whom it was to recover',
    edits: [{ file: RECORD_ENTRY, find: 'abandoned: vanished?.holder }', replace: 'abandoned: undefined }' }],
    breaks: ['recovered once'],
    withinSeeds: 100,
  },
  {
    name: 'a reader that takes its place in the record',
    edits: [{ file: KEY_RECORDS, find: 'else if (writes && !(await', replace: 'else if (!(await' }],
    breaks: ['recovered once'],
    withinSeeds: 100,
  },
  {
    name: 'a key that nothing closes',
    edits: [
      { file: KEY_RECORD, find: "if (policy === 'hold') return", replace: "if (policy === ('none' as string)) return" },
    ],
    breaks: ['recovered once'],
    withinSeeds: 100,
  },
  {
    name: 'a key to be recovered that is open to those who cannot',
    edits: [
      {
        file: KEY_RECORD,
        find: "policy === 'recover' && !newcomer.canRecover",
        replace: "policy === 'recover' && false",
      },
    ],
    breaks: ['recovered once'],
    withinSeeds: 100,
  },
  {
    name: 'a policy of the newcomer alone',
    edits: [
      {
        file: KEY_RECORD,
        find: "const policy = stricter(left, newcomer.policy ?? 'enter');",
        replace: "const policy = left && (newcomer.policy ?? 'enter');",
      },
    ],
    breaks: ['recovered once'],
    withinSeeds: 100,
  },
  {
    name: 'a checkpoint that counts as written when it is sent',
    edits: [
      {
        file: 'lib/engine/hold/recovery.ts',
        find: 'return this.#turns.run(this.#hold.request.key, () => this.#write(entry, { checkpoint }));',
        replace:
          'void this.#turns.run(this.#hold.request.key, () => this.#write(entry, { checkpoint })).catch(() => undefined);\n' +
          'return Promise.resolve();',
      },
    ],
    breaks: ['recovered once'],
    withinSeeds: 1_000,
  },
  {
    name: 'a run after which the key is free at once',
    edits: [{ file: KEY_RECORD, find: "if (forMs > 0) return { kind: 'busy', forMs };", replace: 'void forMs;' }],
    breaks: ['once per occurrence'],
    withinSeeds: 100,
  },
  {
    name: 'a run whose time is over when its holder vanishes',
    edits: [
      {
        file: KEY_RECORD,
        find: 'if (inside?.busyMs !== undefined && inside.name !== ownName)',
        replace: 'if (inside === undefined && ownName === undefined)',
      },
    ],
    breaks: ['once per occurrence'],
    withinSeeds: 300,
  },
  {
    name: 'a run that counts from when its contender came',
    edits: [
      {
        file: RECORD_ENTRY,
        find: 'busyMs === undefined || beganAt === undefined ? undefined : { at: beganAt, busyMs };',
        replace:
          'busyMs === undefined || beganAt === undefined ? undefined : { at: this.#record.inside.since, busyMs };',
      },
    ],
    breaks: ['once per occurrence'],
    withinSeeds: 300,
  },
  {
    name: 'a contender that has waited, and takes a run since then for a clock that was set back',
    edits: [
      {
        file: KEY_RECORD,
        find: 'newcomer.serverMs < lastRun.at && newcomer.isClockNewer',
        replace: 'newcomer.serverMs < lastRun.at',
      },
    ],
    breaks: ['once per occurrence'],
    withinSeeds: 300,
  },
  {
    name: 'a run that is forgotten where there was nothing to recover',
    edits: [
      {
        file: KEY_RECORDS,
        find: 'const isRecoveryOwed = vanished !== undefined && options.recover !== undefined;',
        replace: 'const isRecoveryOwed = options.recover !== undefined;',
      },
    ],
    breaks: ['once per occurrence'],
    withinSeeds: 300,
  },
];

/** Those that it takes more seeds to catch. */
export const SLOW_RECORD_MUTANTS: readonly Mutant[] = [
  {
    name: 'an entry that is written over whatever stands in the record by then',
    edits: [
      {
        file: KEY_RECORDS,
        find: 'set(queuePath, entry.data, read.stat.version)',
        replace: 'set(queuePath, entry.data)',
      },
    ],
    breaks: ['recovered once'],
    withinSeeds: 1_000,
  },
  {
    name: 'an entry that is written without its own node',
    edits: [{ file: KEY_RECORDS, find: 'multi([check(path), set(', replace: 'multi([set(' }],
    breaks: ['recovered once'],
    withinSeeds: 500,
  },
  {
    name: 'several locks, given back before anybody was told what they found',
    edits: [
      {
        file: RECORD_ENTRY,
        find: 'this.#isRecoveryOwed = this.vanished !== undefined && !this.#isRecovered;',
        replace: '',
      },
    ],
    breaks: ['recovered once'],
    withinSeeds: 1_000,
  },
];
