import { stricter } from '../../../lock/abandoned.js';
import { nameOf } from '../graph/callers.js';
import { holdersOf, rowOf, waitersOf } from '../look/lock-row.js';
import { namedKey, type SeenContender, type SeenKey } from '../look/seen-key.js';
import type { CommandLines } from './command-lines.js';
import { breakLineOf } from './costliest.js';
import { duration, firstOf, type Weighed, whoIs } from './weighed.js';

export interface Limits {
  readonly longHoldMs: number;
  readonly longQueue: number;
}

/** Holders that asked long ago. Whether they have waited first is not to be seen from outside. */
export function longHolds(keys: readonly SeenKey[], { longHoldMs }: Limits, lines: CommandLines): Weighed[] {
  return keys.flatMap((seen) => {
    const long = holdersOf(seen.contenders).filter(({ snapshot }) => snapshot.ageMs > longHoldMs);
    const [oldest] = long.sort((one, other) => other.snapshot.ageMs - one.snapshot.ageMs);
    return oldest === undefined ? [] : [longHold(lines, seen, oldest, othersText(long.length - 1, longHoldMs))];
  });
}

function longHold(lines: CommandLines, seen: SeenKey, { snapshot, ...holder }: SeenContender, others: string): Weighed {
  const { waiting, waitedMs } = rowOf(seen);
  return {
    kind: 'long hold',
    severity: waiting > 0 ? 'warning' : 'notice',
    key: seen.key,
    text:
      `${seen.key} is held by ${whoIs(snapshot)}, which asked for it ${duration(snapshot.ageMs)} ago${others}: it has held it since ` +
      'then, or waited first. ' +
      (waiting === 0 ? 'Nobody waits for it.' : `${waiting} wait for it, ${duration(waitedMs)} taken together.`),
    advice:
      `See what it does, in the log or with a profiler. If it does not end by itself: ` +
      `${breakLineOf(lines, seen, { ...holder, snapshot })}. Jobs that take so long on purpose: raise longHoldMs (--long-hold).`,
    weight: waitedMs + snapshot.ageMs,
  };
}

function othersText(count: number, longHoldMs: number): string {
  if (count === 0) return '';
  return `; ${count === 1 ? '1 more that holds it' : `${count} more that hold it`} asked over ${duration(longHoldMs)} ago`;
}

export function longQueues(keys: readonly SeenKey[], { longQueue }: Limits, lines: CommandLines): Weighed[] {
  return keys.flatMap((seen) => {
    const { key, waiting, longestWaitMs = 0, holders } = rowOf(seen);
    if (waiting <= longQueue) return [];
    const who = holders.length === 0 ? 'Nobody holds it' : `It is held by ${firstOf(holders.map(whoIs))}`;
    return [
      {
        kind: 'long queue',
        severity: 'warning',
        key,
        text: `${waiting} wait for ${key}, the first of them for ${duration(longestWaitMs)}. ${who}.`,
        advice:
          'Hold the lock for less work, or spread it over more keys; maxWaiting turns callers away while the queue is long. To end all ' +
          `waits now: ${lines.drain(namedKey(seen), `${waiting} wait`)}`,
        weight: waiting,
      },
    ];
  });
}

/** All waits without a label are one finding, as the remedy is the same. */
export function unlabelledWaits(keys: readonly SeenKey[]): Weighed[] {
  const where: string[] = [];
  let count = 0;
  for (const { key, contenders } of keys) {
    // A client of another make has no way to say more.
    const silent = waitersOf(contenders).filter(
      ({ snapshot: { client } }) => client !== undefined && client.label === undefined,
    );
    count += silent.length;
    if (silent.length > 0) where.push(key);
  }
  if (count === 0) return [];
  return [
    {
      kind: 'wait without a label',
      severity: 'notice',
      key: where.length === 1 ? where[0] : undefined,
      text: `${count === 1 ? 'A call that waits has' : `${count} calls that wait have`} no label: ${firstOf(where)}.`,
      advice:
        'Give these calls a label, { label: "settle orders" }: then each row says which code waits. @Locked has Class.method as its label.',
      weight: count,
    },
  ];
}

/** Holders that vanished inside, and what they left is not recovered. */
export function abandonedKeys(keys: readonly SeenKey[], lines: CommandLines): Weighed[] {
  return keys.flatMap((seen) => {
    const { key, contenders, vanished } = seen;
    if (vanished === undefined) return [];
    const { holder, recoverer } = vanished;
    const policy = recoverer === undefined ? holder.policy : stricter(holder.policy, recoverer.policy);
    const isTaken = holdersOf(contenders).length > 0;
    const { label, host, pid, token } = holder;
    const who = nameOf({ label, host, pid });
    const clear = lines.clear(namedKey(seen), token, 'what it left is repaired');
    return [
      {
        kind: 'abandoned',
        severity:
          isTaken || policy === 'enter' || policy === 'delay' ? 'notice' : policy === 'hold' ? 'critical' : 'warning',
        key,
        text: `A holder of ${key} vanished inside: ${who}, token ${token}. ${WHAT_FOLLOWS[isTaken ? 'taken' : policy]}`,
        advice:
          policy === 'enter' || policy === 'delay' || isTaken
            ? 'Look why it died. There is nothing else to do: who enters learns it from lock.abandoned.'
            : `Look at what it left (inspect shows its last checkpoint), and repair that; then: ${clear}`,
        weight: contenders.length,
      },
    ];
  });
}

const WHAT_FOLLOWS = {
  taken: 'Somebody else is inside now, and knows (lock.abandoned).',
  enter: 'The next one enters, and learns it from lock.abandoned.',
  delay: 'The next one enters after the lock-delay, and learns it from lock.abandoned.',
  recover: 'Only calls that can recover what it left may enter; all others fail with LOCK_ABANDONED.',
  hold: 'All calls fail with LOCK_ABANDONED until somebody clears the key.',
} as const;
