import { decodeIntervention, DRAIN_MARKER } from '../../../queue/intervention.js';
import { SESSIONS_ROOT } from '../../../queue/reserved-names.js';
import { SessionError } from '../../../session/errors.js';
import { ancestry } from '../../../session/paths.js';
import { exists, get } from '../../../session/requests.js';
import type { SeenTree } from '../look/look-around.js';
import { type ListedNode, pathBelow } from '../look/lock-tree.js';
import { holdersOf } from '../look/lock-row.js';
import type { ManyReads } from '../look/many-reads.js';
import type { SeenContender, SeenKey } from '../look/seen-key.js';
import type { SeenMarker, SilentHolder } from './orphans.js';

/** A heartbeat is due every quarter of a session time-out, which servers bound at 40 s where nobody says more. */
const SILENT_AFTER_MS = 60_000;
/** At most this many holds, the oldest, are looked at closely. */
const MAX_SUSPECTS = 1_000;

/** Reads the markers of drains that the lists have shown. */
export async function readMarkers(
  reads: ManyReads,
  nodes: readonly ListedNode[],
  namespace: string,
  nowMs: number,
): Promise<SeenMarker[]> {
  const drained = nodes.filter(({ reserved }) => reserved.includes(DRAIN_MARKER));
  const paths = drained.map(({ path }) => pathBelow(path, DRAIN_MARKER));
  const read = await reads.answers(paths.map((path) => get(path)));
  return read.flatMap((marker, index) => {
    if (marker instanceof SessionError) return [];
    const { ctime, ephemeralOwner } = marker.stat;
    const key = drained[index]!.path.slice(namespace.length);
    return [
      {
        key,
        path: paths[index]!,
        drain: decodeIntervention(marker.data),
        ageMs: nowMs - ctime,
        isPersistent: ephemeralOwner === 0n,
      },
    ];
  });
}

interface Suspicion {
  readonly longHoldMs: number;
  readonly namespace: string;
  readonly nowMs: number;
}

/** Old holds of this package whose sessions have written no heartbeat lately, nor made a node that is still there. */
export async function findSilentHolders(
  reads: ManyReads,
  { keys, nodes }: SeenTree,
  { longHoldMs, namespace, nowMs }: Suspicion,
): Promise<SilentHolder[]> {
  const suspects = suspectsIn(keys, longHoldMs);
  const roots = new Set(nodes.filter(({ reserved }) => reserved.includes(SESSIONS_ROOT)).map(({ path }) => path));
  roots.add(namespace || '/');
  const heartbeats = suspects.map(({ seen, holder }) => {
    const above = ['/', ...ancestry(seen.listed.path)].filter((path) => roots.has(path));
    return above.map((path) => pathBelow(pathBelow(path, SESSIONS_ROOT), holder.snapshot.sessionId));
  });
  const paths = [...new Set(heartbeats.flat())];
  const outcomes = await reads.answers(paths.map((path) => exists(path)));
  const writtenAt = new Map(
    paths.map((path, index) => {
      const outcome = outcomes[index];
      return [path, outcome === undefined || outcome instanceof SessionError ? undefined : outcome.mtime];
    }),
  );
  return suspects.flatMap(({ seen, holder }, index) => {
    const times = heartbeats[index]!.map((path) => writtenAt.get(path)).filter((time) => time !== undefined);
    const last = times.length === 0 ? undefined : Math.max(...times);
    if (last !== undefined && nowMs - last < SILENT_AFTER_MS) return [];
    return [{ seen, holder, silentMs: last === undefined ? undefined : nowMs - last }];
  });
}

/** The oldest holds of sessions that have made no node for a while. */
function suspectsIn(
  keys: readonly SeenKey[],
  longHoldMs: number,
): { readonly seen: SeenKey; readonly holder: SeenContender }[] {
  const youngest = new Map<string, number>();
  for (const { contenders } of keys) {
    for (const { snapshot } of contenders) {
      const { sessionId, ageMs } = snapshot;
      youngest.set(sessionId, Math.min(ageMs, youngest.get(sessionId) ?? Infinity));
    }
  }
  const old = keys.flatMap((seen) =>
    holdersOf(seen.contenders)
      .filter(({ node, ephemeralOwner }) => node.ours && ephemeralOwner !== 0n)
      .filter(({ snapshot: { ageMs } }) => ageMs > Math.max(longHoldMs, SILENT_AFTER_MS))
      // A session that has made a node lately has proved by that write that it lives, and needed no heartbeat.
      .filter(({ snapshot: { sessionId } }) => youngest.get(sessionId)! > SILENT_AFTER_MS)
      .map((holder) => ({ seen, holder })),
  );
  old.sort((one, other) => other.holder.snapshot.ageMs - one.holder.snapshot.ageMs);
  return old.slice(0, MAX_SUSPECTS);
}
