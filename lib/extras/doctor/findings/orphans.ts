import type { Intervention } from '../../../queue/intervention.js';
import { holdersOf } from '../look/lock-row.js';
import type { SeenContender, SeenKey } from '../look/seen-key.js';
import { type CommandLines, quoted } from './command-lines.js';
import { breakLineOf } from './costliest.js';
import { duration, type Weighed, whoIs } from './weighed.js';

/** A break waits for ten seconds, where nobody says more. After so long the holder's work goes on, or the doctor has died. */
const BREAK_TAKES_MS = 60_000;
/** A drain takes five seconds, where nobody says more. */
const DRAIN_TAKES_MS = 10 * 60_000;

/** The marker of a drain, as it was found below a key. */
export interface SeenMarker {
  readonly key: string;
  readonly path: string;
  readonly drain: Intervention;
  readonly ageMs: number;
  /** True if the node goes with no session. */
  readonly isPersistent: boolean;
}

/** Nodes that stand in a queue though nobody stands behind them, as far as that shows from outside. */
export function orphans(keys: readonly SeenKey[], nowMs: number, lines: CommandLines): Weighed[] {
  return keys.flatMap((seen) =>
    seen.contenders.flatMap((contender) => {
      const what = whyOrphan(contender, nowMs);
      if (what === undefined) return [];
      const { nodePath } = contender.snapshot;
      const isHolder = contender.state === 'holds';
      const remove = isHolder ? breakLineOf(lines, seen, contender) : `zkCli.sh delete ${quoted(nodePath)}`;
      return [orphan(what.severity, seen.key, `${nodePath} ${what.text}`, `${what.advice} ${remove}`)];
    }),
  );
}

function whyOrphan(
  { ephemeralOwner, isLeftIntent, breaking }: SeenContender,
  nowMs: number,
): Pick<Weighed, 'severity' | 'text' | 'advice'> | undefined {
  if (ephemeralOwner === 0n) {
    return {
      severity: 'critical',
      text: 'is in the queue and belongs to no session, so it stays for ever, and whoever it is in the way of waits for ever.',
      advice: 'Somebody made it by hand, or restored it from a copy: remove it.',
    };
  }
  if (isLeftIntent) {
    return {
      severity: 'critical',
      text: 'is the second node of an upgrade whose first node is gone: it lets nobody in, and nobody will remove it before its session ends.',
      advice: 'Somebody removed the first node by hand: remove this one, too.',
    };
  }
  if (breaking === undefined || nowMs - breaking.at < BREAK_TAKES_MS) return undefined;
  return {
    severity: 'warning',
    text:
      `was broken by ${breaking.by} (${breaking.reason}) ${duration(nowMs - breaking.at)} ago and is still there: the work under ` +
      'the lock has not ended, and nobody has removed the node.',
    advice: 'End that process, or break the lock once more, which removes the node by force when its grace is over:',
  };
}

/** Marks of drains that should have ended long ago. */
export function staleMarkers(markers: readonly SeenMarker[]): Weighed[] {
  return markers.flatMap(({ key, path, drain, ageMs, isPersistent }) => {
    if (!isPersistent && ageMs < DRAIN_TAKES_MS) return [];
    const since = `It was begun by ${drain.by} (${drain.reason}) ${duration(ageMs)} ago`;
    const text = `${path} says that the queue is being drained. ${since}, and whoever loses its place meanwhile fails with LOCK_DRAINED.`;
    const advice = isPersistent
      ? `It belongs to no session, so it stays for ever. Remove it: zkCli.sh delete ${quoted(path)}`
      : `End the process that drains, or remove the marker: zkCli.sh delete ${quoted(path)}`;
    return [orphan('warning', key, text, advice)];
  });
}

/** A holder of ours in a session that shows no sign of life of its own. */
export interface SilentHolder {
  readonly seen: SeenKey;
  readonly holder: SeenContender;
  /** Its session wrote its last heartbeat this long ago; undefined where it has none. */
  readonly silentMs: number | undefined;
}

/**
 * A process that holds a lock writes a heartbeat every quarter of its session time-out, unless it writes all the time. So an old
 * hold without either is likely to be one that its process has forgotten, or could not remove.
 */
export function silentHolders(silent: readonly SilentHolder[], lines: CommandLines): Weighed[] {
  return silent.map(({ seen, holder, silentMs }) => {
    const { snapshot } = holder;
    const last = silentMs === undefined ? 'has no heartbeat' : `wrote its last heartbeat ${duration(silentMs)} ago`;
    const isInTheWay = seen.contenders.length > holdersOf(seen.contenders).length;
    return orphan(
      isInTheWay ? 'warning' : 'notice',
      seen.key,
      `${snapshot.nodePath} of ${whoIs(snapshot)} holds the lock, and its session (${snapshot.sessionId}) lives, but ${last}: perhaps ` +
        'nobody in that process holds it any more. A session that writes all the time needs no heartbeat either.',
      `Ask that process (LockService.query() lists what it holds; the event not-removed tells what it could not remove). If it does not ` +
        `know of it: ${breakLineOf(lines, seen, holder)}`,
    );
  });
}

function orphan(severity: Weighed['severity'], key: string, text: string, advice: string): Weighed {
  return { kind: 'orphan', severity, key, text, advice, weight: 0 };
}
