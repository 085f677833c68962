import type { Mutant } from './mutant.js';

/** Mistakes that locks over ZooKeeper are known for, and those this design is prone to. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'token from the sequence instead of czxid',
    edits: [
      {
        file: 'lib/engine/hold/hold.ts',
        find: 'this.token = fencingToken(contender.czxid);',
        replace: 'this.token = fencingToken(BigInt(contender.name.slice(-10)) + 1n);',
      },
    ],
    // The records of keys name holders by their tokens.
    breaks: ['tokens rise', 'recovered once'],
    withinSeeds: 300,
  },
  {
    name: 'node adopted without comparing its session',
    surroundings: [
      {
        // A client that opens a new session by its own clock, while the old one may live: the C client does.
        file: 'lib/session/core/session-keeper.ts',
        find: 'if (this.#granted === undefined || this.#outOfTouch.isProbing) {',
        replace: 'if (this.#granted === undefined || this.#outOfTouch.isProbing || this.#outOfTouch) {',
      },
    ],
    edits: [
      { file: 'lib/engine/acquire/enqueue.ts', find: 'if (session.identity !== identity) break;', replace: '' },
      {
        file: 'lib/engine/acquire/enqueue.ts',
        find: 'if (found.stat.ephemeralOwner !== identity.id) break;',
        replace: '',
      },
      {
        file: 'lib/engine/acquire/enqueue.ts',
        find: 'return contenderOf(session, creation, { path, stat: found.stat });',
        replace:
          'return new Contender(creation.request, id, new OwnNode(session, path, session.identity ?? identity), found.stat);',
      },
    ],
    // The node goes with the session that it belongs to, and who has adopted it queues again.
    breaks: ['one holder', 'loss is told first', 'granted is held', 'first come, first served'],
    withinSeeds: 2_000,
  },
  {
    name: 'wake-up without looking again',
    edits: [
      {
        file: 'lib/engine/acquire/turns.ts',
        find: 'const decision = decideIn(this.#parts.known.nodesFor(member.node), member.node);',
        replace:
          "const decision = basis === 'a removal' ? { kind: 'hold' } : decideIn(this.#parts.known.nodesFor(member.node), member.node);",
      },
      {
        file: 'lib/engine/acquire/turns.ts',
        find: "const isShown = basis === 'a new list' ||",
        replace: "const isShown = basis === 'a new list' || basis === 'a removal' ||",
      },
    ],
    breaks: ['first come, first served', 'one holder', 'granted is held'],
    withinSeeds: 100,
  },
  {
    name: 'time-out that leaves its node',
    edits: [
      {
        file: 'lib/engine/acquire/acquire.ts',
        find: "void janitor.remove([contender.path], contender.record?.undo(), contender.leave('departed'));",
        replace: "contender.leave('departed');",
      },
    ],
    breaks: ['no litter', 'liveness'],
    withinSeeds: 100,
  },
  {
    name: 'ownership per process instead of per caller',
    edits: [
      {
        file: 'lib/engine/bounds/owner-context.ts',
        find: 'export async function runInFrame<T>(frame: OwnerFrame, work: () => T | PromiseLike<T>): Promise<T> {',
        replace:
          'const latest = new Map<object, OwnerFrame>();\n' +
          'export async function runInFrame<T>(frame: OwnerFrame, work: () => T | PromiseLike<T>): Promise<T> {\n' +
          'latest.set(frame.service, frame);',
      },
      {
        file: 'lib/engine/bounds/owner-context.ts',
        find: 'for (let frame = storage.getStore(); frame !== undefined; frame = frame.parent) {',
        replace: 'for (const frame of latest.values()) {',
      },
    ],
    breaks: ['one holder'],
    withinSeeds: 100,
  },
  {
    name: 'clean-up given up while disconnected',
    edits: [
      {
        file: 'lib/engine/upkeep/janitor.ts',
        find: 'if (isUp(state)) for (const task of this.#tasks.all()) ',
        replace:
          'if (isUp(state)) for (const task of this.#tasks.all()) this.#finish(task); else if (false) for (const task of []) ',
      },
    ],
    breaks: ['no litter', 'liveness'],
    withinSeeds: 100,
  },
  {
    name: 'certainty extended by any answer, as of when it was asked for',
    edits: [
      {
        file: 'lib/session/core/session-life.ts',
        find: "if (proof === 'committed') this.#proof?.committed(call, this.#clock.now());",
        replace: 'if (call) this.#proof?.committed(call, this.#clock.now());',
      },
      {
        file: 'lib/session/core/proof-of-life.ts',
        find: 'this.#unvouched.push({ answer: write.answer, provenAt: ripe.sentAt });',
        replace: 'this.#unvouched.push({ answer: write.answer, provenAt: write.sentAt });',
      },
    ],
    breaks: ['loss is told first', 'one holder'],
    withinSeeds: 40,
    directed: 'cut off with its follower',
  },
  {
    name: 'certainty extended by any answer',
    edits: [
      {
        file: 'lib/session/core/session-life.ts',
        find: "if (proof === 'committed') this.#proof?.committed(call, this.#clock.now());",
        replace: 'if (call) this.#proof?.committed(call, this.#clock.now());',
      },
    ],
    breaks: ['loss is told first', 'one holder'],
    withinSeeds: 280,
    directed: 'cut off with its follower',
  },
  {
    name: 'a committed write that nothing vouches for',
    edits: [
      {
        file: 'lib/session/core/proof-of-life.ts',
        find: 'const ripe = this.#ripeAt(write.sentAt);',
        replace:
          'const ripe = this.#ripeAt(write.sentAt);\n' +
          'if (ripe !== undefined) this.#provenUntil = Math.max(this.#provenUntil, this.#endFrom(ripe.sentAt));',
      },
    ],
    breaks: ['loss is told first', 'one holder'],
    withinSeeds: 40,
    directed: 'the way from the leader stalls, and the way back is cut',
  },
  {
    name: 'an offer that is not answered and not counted',
    edits: [
      {
        file: 'lib/session/core/proof-of-life.ts',
        find: 'this.#offeredAt ??= handshakeSentAt;',
        replace: 'void handshakeSentAt;',
      },
    ],
    breaks: ['loss is told first', 'one holder'],
    withinSeeds: 40,
    directed: 'a re-attach that is not answered',
  },
  {
    name: 'the last of several offers counted, not the earliest',
    edits: [
      {
        file: 'lib/session/core/proof-of-life.ts',
        find: 'this.#offeredAt ??= handshakeSentAt;',
        replace: 'this.#offeredAt = handshakeSentAt;',
      },
    ],
    breaks: ['loss is told first', 'one holder'],
    withinSeeds: 40,
    directed: 'a re-attach that only a leader of the past answers',
  },
  {
    name: 'an answered offer taken for good without a committed write',
    edits: [
      {
        file: 'lib/session/core/proof-of-life.ts',
        find: 'this.#samples = [{ sentAt: handshakeSentAt, answeredAt }];',
        replace: 'this.#samples = [{ sentAt: handshakeSentAt, answeredAt }];\nthis.#offeredAt = undefined;',
      },
    ],
    breaks: ['loss is told first', 'one holder'],
    withinSeeds: 40,
    directed: 'a re-attach that only a leader of the past answers',
  },
  {
    name: 'no second look after a reader left',
    edits: [
      {
        file: 'lib/engine/acquire/turns.ts',
        find: "if (basis === 'a removal' && !blockers.has(watch.name)) {",
        replace:
          "if (basis === 'a removal' && watch.mode === 'read') { this.#letEnter(member, 'a new list'); return undefined; }\nif (basis === 'a removal' && !blockers.has(watch.name)) {",
      },
    ],
    breaks: ['first come, first served', 'one holder'],
    withinSeeds: 100,
  },
  {
    name: 'an upgrade intent without names',
    edits: [
      {
        file: 'lib/queue/intent-data.ts',
        find: 'return Array.isArray(readers) && readers.includes(name);',
        replace: 'return true;',
      },
    ],
    breaks: ['one holder'],
    withinSeeds: 1_000,
  },
  {
    name: 'an upgrade intent that is not looked at',
    edits: [
      {
        file: 'lib/queue/decide.ts',
        find: "if (intents.length > 0) return { kind: 'hold if named', intents };",
        replace: '',
      },
    ],
    breaks: ['one holder'],
    withinSeeds: 1_000,
  },
  {
    name: 'no look at all after a lost create',
    edits: [
      {
        file: 'lib/engine/acquire/enqueue.ts',
        find: 'const found = await findAgain(parts, creation, scope);',
        replace: 'const found = (await Promise.resolve(undefined)) as Contender | undefined;',
      },
    ],
    breaks: ['no litter', 'liveness'],
    withinSeeds: 100,
  },
  {
    name: 'no sync after a lost create',
    edits: [
      {
        file: 'lib/engine/upkeep/key-nodes.ts',
        find: '.batch([remove(`${queuePath}/${marker}`), listQueue(queuePath)])',
        replace: '.batch([listQueue(queuePath), listQueue(queuePath)])',
      },
    ],
    breaks: ['no litter', 'liveness'],
    withinSeeds: 1_000,
  },
  {
    name: 'a sync where only a write is behind all creates',
    edits: [
      {
        file: 'lib/engine/upkeep/key-nodes.ts',
        find: '.batch([remove(`${queuePath}/${marker}`), listQueue(queuePath)])',
        replace: ".batch([{ op: 'sync', path: queuePath }, listQueue(queuePath)])",
      },
    ],
    breaks: ['no litter', 'liveness'],
    withinSeeds: 1_000,
  },
  {
    name: 'a decided hand-over without a watch on the own node',
    edits: [
      {
        file: 'lib/engine/acquire/turns.ts',
        find: '(member.excludesAll && member.contender.node.isWatched)',
        replace: "(member.excludesAll && basis === 'a removal')",
      },
      {
        file: 'lib/engine/acquire/blockers.ts',
        find: 'const asksForOwn = (alone || markPath !== undefined) && !contender.node.isWatched;',
        replace: 'const asksForOwn = false;',
      },
    ],
    breaks: ['granted is held'],
    withinSeeds: 500,
  },
  {
    name: 'a held node that is not watched',
    edits: [{ file: 'lib/engine/hold/hold.ts', find: '  watchOwn(): void {', replace: '  watchOwn(): void { return;' }],
    breaks: ['loss is told first'],
    withinSeeds: 500,
  },
];
