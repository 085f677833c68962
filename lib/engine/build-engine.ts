import { hostname } from 'node:os';
import { wallNow } from '../lock/clock.js';
import type { LockScope } from '../lock/handle.js';
import type { HistoryOptions } from '../lock/past-hold.js';
import { encodeContender } from '../queue/node-data.js';
import type { Session } from '../session/session.js';
import { Acquire } from './acquire/acquire.js';
import { KeyQueues } from './acquire/key-queues.js';
import { LockCalls } from './acquire/lock-calls.js';
import { HolderInFront } from './acquire/obstacles.js';
import { CallScopes } from './bounds/call-scope.js';
import { Identifiers, LockEvents } from './bounds/owner-context.js';
import { factsOf, type LockRequest } from './contender.js';
import { notRemoved } from './error-texts.js';
import { BrokenHolds } from './hold/ending.js';
import { HoldHistory } from './hold/hold-parts.js';
import { Hold } from './hold/hold.js';
import { Holders } from './hold/holders.js';
import { HistoryWriter } from './insight/history-writer.js';
import { Entry, type LocalExclusion, LocalStandIn } from './policy/entry.js';
import { EarlierTries } from './policy/earlier-tries.js';
import { KeyRecords } from './policy/key-records.js';
import { MaxWaiting } from './policy/max-waiting.js';
import { RecordWishes } from './policy/record-wishes.js';
import { TimedWaits } from './policy/timed-waits.js';
import { Timers } from './timers.js';
import { Janitor } from './upkeep/janitor.js';
import { LinkState } from './upkeep/link-state.js';
import { ListsBehindWrites, Parents } from './upkeep/key-nodes.js';

/** The settings of one lock service, resolved and checked. */
export interface EngineSettings {
  /** What its channels call it. @default 'default' */
  readonly connection?: string | undefined;
  /** '' or the absolute path in front of every key. */
  readonly namespace: string;
  /** 'process' is for the local locks that stand in, over an ensemble in memory. They have no token. */
  readonly scope: LockScope;
  readonly waitMs: number;
  /** How many may be ahead of a call that joins a queue; Infinity means that there is no bound. */
  readonly maxWaiting: number;
  /** How long calls wait for the first connection before they wait for their lock. */
  readonly connectTimeoutMs: number;
  readonly shutdownGraceMs: number;
  readonly onSuspended: 'continue' | 'stop';
  /** 0 means that there is no lock-delay. */
  readonly lockDelayMs: number;
  /** Undefined where no history is kept. */
  readonly history?: Required<HistoryOptions> | undefined;
  /** Names this lock service and its contenders; the simulator's is seeded. */
  readonly randomUuid: () => string;
  /** Draws a number in [0, 1). */
  readonly random: () => number;
  /** The machine and process that its contenders name. @default this machine, and the process's own number */
  readonly machine?: { readonly host: string; readonly pid: number } | undefined;
}

/** The parts that a lock service has in common with the local one that stands in for it. */
export interface SharedParts {
  readonly events: LockEvents;
  /** Undefined where no local lock service stands in. */
  readonly exclusion: LocalExclusion | undefined;
}

export type Engine = ReturnType<typeof buildEngine>;

/** Makes the parts of one lock service, and hands to each what it needs. */
export function buildEngine(
  session: Session,
  settings: EngineSettings,
  { events, exclusion }: SharedParts = { events: new LockEvents(), exclusion: undefined },
  local?: LockCalls,
) {
  const { connection = 'default', namespace, scope, waitMs, connectTimeoutMs, lockDelayMs, random } = settings;
  const { clock } = session;
  const machine = settings.machine ?? { host: hostname(), pid: process.pid };
  const client = { clientId: settings.randomUuid(), ...machine };
  const identifiers = new Identifiers(settings.randomUuid());
  const link = new LinkState(session);
  const timers = new Timers(clock);
  const scopes = new CallScopes(timers, link);
  const history = new HoldHistory();
  const lists = new ListsBehindWrites(session);
  const janitor = new Janitor({ session, link, timers, lists }, (path, error) =>
    events.next(notRemoved(namespace, path, error)),
  );
  const holders = new Holders(session, timers, link, settings.onSuspended);
  const brokenHolds = new BrokenHolds(session, link);
  const wishes = new RecordWishes(lockDelayMs);
  const tries = new EarlierTries(clock, wishes);
  const waits = new TimedWaits(session, timers);
  const rules = new Entry(link, new KeyRecords({ session, wishes, tries, waits, machine }), tries, exclusion);
  const keyQueues = new KeyQueues(session, link, timers);

  // A local lock has no token to write down, and its ensemble in memory is read by nobody else.
  const writer =
    settings.history === undefined || scope === 'process'
      ? undefined
      : new HistoryWriter({ session, link, timers, machine, namespace }, settings.history);

  const upkeep = { session, clock, link, timers, janitor, lists };
  const calls = { connection, scopes, identifiers, events, waitMs };
  const holdParts = { ...upkeep, ...calls, holders, brokenHolds, history, past: writer, rules, scope };
  const acquire = new Acquire({
    ...upkeep,
    identifiers,
    rules,
    parents: new Parents(),
    keyQueues,
    bound: new MaxWaiting({ session, link, keyQueues, history, usual: settings.maxWaiting }),
    holderInFront: new HolderInFront(clock, timers, () => holders.all(), rules),
    describe: ({ key, owner, mode, options: { label, template, leaseMs }, trace }: LockRequest) =>
      encodeContender(
        client,
        {
          owner,
          mode,
          label,
          template,
          leaseMs,
          // Most have no lock-delay, and then the data of each node is shorter without it.
          lockDelayMs: lockDelayMs || undefined,
          // Snapshots of the queue estimate by it how long those behind have to wait.
          holdMs: history.averageMs(key),
          traceparent: trace?.traceparent,
        },
        wallNow(clock),
      ),
    onRequeued: (request, reason) => events.next({ ...factsOf(request), type: 'requeued', reason }),
    beginHold: (contender) => {
      const hold = new Hold(holdParts, contender);
      // In the same turn, so that nobody from the other queue, of the fleet or of the process, enters beside it.
      rules.entered(hold);
      return hold;
    },
  });
  const standIn = local && new LocalStandIn(local, link, timers, events);
  const lockCalls = new LockCalls({
    ...upkeep,
    ...calls,
    acquire,
    records: wishes,
    standIn,
    namespace,
    scope,
    connectTimeoutMs,
  });
  return { ...upkeep, ...calls, holders, brokenHolds, history, writer, lockCalls, random };
}
