import type { SeenKey } from '../look/seen-key.js';
import { type WaitGraph, waitGraph, type WaitGraphEdge, type WaitGraphNode } from '../wait-graph.js';
import { waitsIn } from './blockers.js';
import { callersOf } from './callers.js';
import { knots, wayAround } from './cycles.js';

/** Finds out who waits for whom, over all keys. */
export function graphOf(keys: readonly SeenKey[]): WaitGraph {
  const nodes = new Map<string, WaitGraphNode>();
  const edges: WaitGraphEdge[] = [];
  for (const { key, contenders } of keys) {
    if (contenders.length === 0) continue;
    const lock = keyId(key);
    nodes.set(lock, { id: lock, kind: 'key', name: key });
    const seen = new Set<string>();
    const isShared = contenders.some(({ state, node }) => state === 'holds' && node.mode === 'read');
    for (const [{ state }, { id, name, client }] of callersOf(contenders)) {
      // Not each call of an owner has a label.
      if (client?.label !== undefined || !nodes.has(id)) nodes.set(id, { id, kind: 'owner', name, client });
      // An upgrader waits as long as readers are inside.
      if (state === 'intent' && !isShared) continue;
      const edge: WaitGraphEdge =
        state === 'holds' ? { from: lock, to: id, kind: 'held by' } : { from: id, to: lock, kind: 'waits for' };
      // One owner may have several places in a queue.
      if (seen.has(`${edge.kind} ${id}`)) continue;
      seen.add(`${edge.kind} ${id}`);
      edges.push(edge);
    }
  }
  return waitGraph({ nodes: [...nodes.values()], edges, cycles: cyclesIn(keys, edges) });
}

/** Finds the circles of callers that wait for each other, and the keys between them. */
function cyclesIn(keys: readonly SeenKey[], edges: readonly WaitGraphEdge[]): string[][] {
  const ways = new Map<string, string[]>();
  for (const { from, to } of edges) add(ways, from, to);
  // An edge `waits for` does not say which of the holders is waited for, so what looks like a cycle is looked at closely.
  const suspects = new Set(knots(ways).flat());
  if (suspects.size === 0) return [];
  const closer = new Map<string, string[]>();
  /** The places in between, each for those who wait for the same ones, and their keys. */
  const keyOf = new Map<string, string>();
  for (const { key, contenders } of keys) {
    if (!suspects.has(keyId(key))) continue;
    const places = new Map<ReadonlySet<string>, string>();
    for (const { caller, holders } of waitsIn(contenders, (id) => suspects.has(id))) {
      let place = places.get(holders);
      if (place === undefined) {
        place = `wait ${keyOf.size}`;
        places.set(holders, place);
        keyOf.set(place, keyId(key));
        closer.set(place, [...holders]);
      }
      add(closer, caller.id, place);
    }
  }
  return knots(closer).map((knot) => {
    const way = wayAround(
      closer,
      [...knot].sort((one, other) => Number(keyOf.has(one)) - Number(keyOf.has(other))),
    );
    return way.map((place) => keyOf.get(place) ?? place);
  });
}

function keyId(key: string): string {
  return `key ${key}`;
}

function add(ways: Map<string, string[]>, from: string, to: string): void {
  const known = ways.get(from);
  if (known === undefined) ways.set(from, [to]);
  else known.push(to);
}
