import type { Mutant } from './mutant.js';

/** A mistake for every checker that the others leave idle, and those that schedules have found in the engine. */
export const MORE_MUTANTS: readonly Mutant[] = [
  {
    name: 'everybody watches the head of the queue',
    edits: [
      {
        file: 'lib/queue/decide.ts',
        find: 'const blocker = ahead.findLast(',
        replace: 'const blocker = ahead.find(',
      },
    ],
    breaks: ['no herd'],
    withinSeeds: 500,
  },
  {
    name: 'a watch that is taken back only when it is known to be set',
    edits: [
      {
        file: 'lib/session/core/watch-registry.ts',
        find: 'if (!unwanted.includes(kind) && !this.registry.wants(path, kind)) unwanted.push(kind);',
        replace: 'void kind;',
      },
    ],
    breaks: ['no herd'],
    withinSeeds: 40,
    directed: 'gives up while it begins to wait',
  },
  {
    name: 'a lock-delay that nobody waits for',
    edits: [
      {
        file: 'lib/engine/policy/timed-waits.ts',
        find: 'return this.#sleep(keptOut.forMs, scope);',
        replace: 'return;',
      },
    ],
    breaks: ['lock-delay'],
    withinSeeds: 500,
  },
  {
    name: 'busy, whatever the reason',
    edits: [
      {
        file: 'lib/engine/bounds/call-scope.ts',
        find: 'if (this.link.isUp && this.#isBehindOthers)',
        replace: 'if (this.#isBehindOthers)',
      },
    ],
    breaks: ['honest errors'],
    withinSeeds: 500,
  },
  {
    name: "a listener left on the caller's signal",
    edits: [
      {
        file: 'lib/engine/bounds/call-scope.ts',
        find: 'scope.onDispose(onAbort(signal, abort));',
        replace: 'onAbort(signal, abort);',
      },
    ],
    breaks: ['no litter'],
    withinSeeds: 100,
  },
  {
    name: 'a release that waits for the servers',
    edits: [
      {
        file: 'lib/engine/hold/ending.ts',
        find: 'return new Promise((resolve) => {',
        replace: 'if (paths.length > 0) return done;\n  return new Promise((resolve) => {',
      },
    ],
    breaks: ['every promise settles'],
    withinSeeds: 500,
  },
  {
    name: 'a release that waits for a link',
    edits: [
      { file: 'lib/engine/hold/ending.ts', find: 'if (!link.isUp) end();', replace: '' },
      { file: 'lib/engine/hold/ending.ts', find: 'else end();', replace: 'else void done.then(end);' },
    ],
    breaks: ['every promise settles'],
    withinSeeds: 300,
  },
  {
    name: 'a hold that comes back with the link',
    edits: [
      { file: 'lib/engine/hold/ending.ts', find: ' || session.certainSince() > heldSince', replace: '' },
      {
        file: 'lib/engine/hold/holders.ts',
        find: "for (const hold of this.all()) hold.lose('uncertain');",
        replace: '',
      },
    ],
    // Whoever waits for the lock to be sure again is told late, too.
    breaks: ['no resurrection', 'loss is told first', 'every promise settles'],
    withinSeeds: 1_000,
  },
  {
    name: 'a session that nobody keeps certain',
    edits: [{ file: 'lib/engine/hold/holders.ts', find: 'this.#letGo = this.session.keepCertain();', replace: '' }],
    breaks: ['no false loss'],
    withinSeeds: 100,
  },
  {
    name: 'a wake-up that is not heard',
    edits: [
      {
        file: 'lib/engine/acquire/blockers.ts',
        find: "if (type === 'deleted') this.#listener.removed(name, watch.wasHolder);",
        replace:
          "if (type === 'deleted' && name.endsWith('3')) return;\nif (type === 'deleted') this.#listener.removed(name, watch.wasHolder);",
      },
    ],
    breaks: ['liveness'],
    withinSeeds: 300,
  },
  {
    name: 'a grant to somebody who was removed meanwhile',
    edits: [{ file: 'lib/engine/acquire/acquire.ts', find: 'contender.node.isGone || ', replace: '' }],
    // The last look before a grant turns it into a loss that its caller is told of, where it should have queued again.
    breaks: ['granted is held', 'honest errors'],
    withinSeeds: 40,
    directed: 'removed while it proves its life',
  },
  {
    name: 'a grant while the link is down',
    edits: [
      {
        file: 'lib/engine/acquire/acquire.ts',
        find: 'if (!link.isUp || session.identity !== own) return false;',
        replace: 'if (session.identity !== own) return false;',
      },
    ],
    breaks: ['granted is held', 'loss is told first'],
    withinSeeds: 40,
    directed: 'the link breaks in the turn in which the answer comes',
  },
  {
    name: 'a held node that is not watched again with the next link',
    edits: [
      {
        file: 'lib/engine/hold/holders.ts',
        find: 'else if (isUp(state) && this.#clock.now() - hold.heldSince >= WATCH_OWN_AFTER_MS) hold.watchOwn();',
        replace: '',
      },
    ],
    breaks: ['loss is told first'],
    withinSeeds: 40,
    directed: 'removed after the link had gone',
  },
  {
    name: 'a watch on the own node that counts as set although it failed',
    edits: [
      {
        file: 'lib/engine/own-node.ts',
        find: 'if (outcome instanceof SessionError) return;',
        replace:
          'if (outcome instanceof SessionError) return void (this.#isWatched = !this.#isGone && this.#answered > this.#usedUp);',
      },
    ],
    breaks: ['loss is told first'],
    withinSeeds: 40,
    directed: 'removed after the link had gone',
  },
  {
    name: 'all or none, however long it takes',
    edits: [
      {
        file: 'lib/engine/several/acquire-all.ts',
        find: 'if (!isInterruption(error)) await timers.atMost(call.deadline.remainingMs(), released);',
        replace: 'await Promise.all(acquired.map(({ handle }) => handle.release())); void released;',
      },
    ],
    breaks: ['every promise settles'],
    withinSeeds: 1_000,
  },
  {
    name: 'time for a silent server that grows with the refusals of others',
    edits: [
      {
        file: 'lib/session/core/server-list.ts',
        find: '2 * (this.#silentForMs.get(server) ?? 0)',
        replace: '(sessionTimeoutMs / (3 * this.#servers.length)) * 2 ** this.#rounds',
      },
      {
        file: 'lib/session/core/server-list.ts',
        find: 'certainMs > 0 ? Math.min(sessionTimeoutMs, certainMs / 3) : sessionTimeoutMs',
        replace: 'certainMs > 0 ? sessionTimeoutMs : sessionTimeoutMs',
      },
      {
        file: 'lib/session/core/server-list.ts',
        find: 'return certainMs > 0 ? Math.max(SHORTEST_ATTEMPT_MS, certainMs / 2) : Infinity;',
        replace: 'return certainMs > 0 ? Infinity : Infinity;',
      },
    ],
    breaks: ['no false loss'],
    withinSeeds: 40,
    directed: 'one is silent after all have refused',
  },
  {
    name: 'silence that is noticed as late with a lock as without',
    edits: [
      {
        file: 'lib/session/core/liveness.ts',
        find: 'heldUntil === undefined || heldUntil <= now) return endsAt;',
        replace: 'heldUntil === undefined || heldUntil <= Infinity) return endsAt;',
      },
    ],
    breaks: ['no false loss'],
    withinSeeds: 40,
    directed: 'its server dies silently',
  },
  {
    name: 'a session that is offered to a server without a quorum',
    edits: [
      {
        file: 'lib/session/core/session-keeper.ts',
        find: 'heldMs > MIN_SESSION_TICKS * serverTickMs',
        replace: 'heldMs > Infinity * serverTickMs',
      },
    ],
    breaks: ['no false loss'],
    withinSeeds: 40,
    directed: 'the quorum is away',
  },
  {
    name: 'certainty slept away between two rounds of servers',
    edits: [
      {
        file: 'lib/session/core/session-keeper.ts',
        find: 'this.#refusing.areAll ? 0 : this.#heldMs()',
        replace: '0',
      },
    ],
    breaks: ['no false loss'],
    withinSeeds: 40,
    directed: 'the quorum is away, at the defaults',
  },
  {
    name: 'an offer that nothing but a write makes up for',
    edits: [
      {
        file: 'lib/session/core/proof-of-life.ts',
        find: 'if (this.#offers === 1) this.#makeUpForOffers();',
        replace: '',
      },
    ],
    breaks: ['no false loss'],
    withinSeeds: 40,
    directed: 'the quorum is away',
  },
  {
    name: 'a server that is left for a pause',
    edits: [
      {
        file: 'lib/session/core/liveness.ts',
        find: 'Math.max(this.#unansweredSince + this.#thirdMs, heldUntil',
        replace: 'Math.max(this.#unansweredSince, heldUntil',
      },
    ],
    breaks: ['no false loss'],
    withinSeeds: 40,
    directed: 'its server pauses',
  },
  {
    name: 'a server that is left as soon as the event loop has stood still until the silence ended',
    edits: [
      {
        file: 'lib/session/core/liveness.ts',
        find: 'if (this.#late.at === now) return now + this.#thirdMs;',
        replace: 'if (this.#late.at === now) return now;',
      },
    ],
    breaks: ['no false loss'],
    withinSeeds: 40,
    directed: 'its process comes back as the silence ends',
  },
  {
    name: 'a server that is left for a ping that was late',
    edits: [
      {
        file: 'lib/session/core/liveness.ts',
        find: 'return this.#late.at + Math.min(this.#late.byMs, this.#thirdMs);',
        replace: 'return now;',
      },
    ],
    breaks: ['no false loss'],
    withinSeeds: 40,
    directed: 'its process comes back as the silence ends',
  },
];

/** Those that it takes many schedules to meet. */
export const SLOW_MUTANTS: readonly Mutant[] = [
  {
    name: 'a loss that is told to nobody who does not ask',
    edits: [
      {
        file: 'lib/engine/hold/holders.ts',
        find: "for (const hold of this.all()) hold.lose('uncertain');",
        replace: '',
      },
    ],
    // Whoever waits for the lock to be sure again is told late, too.
    breaks: ['loss is told first', 'every promise settles'],
    withinSeeds: 3_000,
  },
  {
    name: 'one removed node that keeps the others',
    edits: [
      {
        file: 'lib/engine/upkeep/janitor.ts',
        find: "return 'again';\n      return this.#removeEach(paths);",
        replace: "return 'again';\n      return 'done';",
      },
    ],
    breaks: ['no litter'],
    withinSeeds: 1_000,
  },
  {
    name: 'no second look after a lock-delay',
    edits: [
      {
        file: 'lib/engine/policy/key-records.ts',
        find: '  type Vanished,\n',
        replace: '  type Vanished,\n  vanishedIn,\n',
      },
      {
        file: 'lib/engine/policy/key-records.ts',
        find: 'return writes ? undefined : this.#change(contender, read, withoutDelay(record), scope);',
        // Who writes is held up by the transaction that takes its place in the record; a reader has none.
        replace:
          'if (writes) return undefined;\n' +
          'contender.abandoned = toldOf(vanishedIn(record, contender.name)!);\n' +
          'return "passed";',
      },
    ],
    breaks: ['granted is held', 'loss is told first'],
    withinSeeds: 5_000,
  },
  {
    name: 'a grant that is as good as over',
    edits: [
      {
        file: 'lib/engine/acquire/acquire.ts',
        find: 'return 2 * certaintyMarginMs',
        replace: 'return certaintyMarginMs',
      },
    ],
    breaks: ['no false loss'],
    withinSeeds: 1_000,
  },
];
