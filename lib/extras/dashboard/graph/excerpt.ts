import { plural } from '../shown.js';
import type { WaitGraph, WaitGraphEdge, WaitGraphNode } from '../../doctor/wait-graph.js';

/** One thing in the drawing: a caller, a lock, or many callers in one box. */
export interface DrawnNode {
  readonly id: string;
  readonly kind: WaitGraphNode['kind'] | 'crowd';
  readonly lines: readonly string[];
  readonly isInCycle: boolean;
}

export interface DrawnEdge extends WaitGraphEdge {
  readonly isInCycle: boolean;
}

export interface Excerpt {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
  /** The drawing leaves out this many of the locks that somebody waits for. */
  readonly leftOut: number;
}

/** More boxes nobody reads, and a layout of many more would keep the process from its own work. */
const MAX_NODES = 90;
const MAX_CALLERS = 5;

/** The part of a wait-for graph that a drawing can show: cycles first, then the longest queues. */
export function excerptOf(graph: WaitGraph): Excerpt {
  const names = new Map(graph.nodes.map((node) => [node.id, node]));
  const inCycle = new Set(graph.cycles.flat());
  const queues = groupedBy(graph.edges, 'waits for', ({ to }) => to);
  const holds = groupedBy(graph.edges, 'held by', ({ from }) => from);
  const keys = [...queues.keys()].sort((one, other) => {
    const cycles = Number(inCycle.has(other)) - Number(inCycle.has(one));
    return cycles || queues.get(other)!.length - queues.get(one)!.length || (one < other ? -1 : 1);
  });
  const nodes = new Map<string, DrawnNode>();
  const edges: DrawnEdge[] = [];
  const connect = (edge: WaitGraphEdge): void => {
    edges.push({ ...edge, isInCycle: inCycle.has(edge.from) && inCycle.has(edge.to) });
    for (const id of [edge.from, edge.to])
      nodes.set(id, { id, isInCycle: inCycle.has(id), ...described(id, names.get(id)) });
  };
  let drawn = 0;
  for (const key of keys) {
    if (nodes.size >= MAX_NODES) break;
    drawn += 1;
    for (const kind of [holds.get(key) ?? [], queues.get(key)!]) {
      const shown = foremost(kind, inCycle);
      shown.forEach(connect);
      const [first] = kind;
      if (first === undefined || shown.length === kind.length) continue;
      const crowd = `crowd ${first.kind} ${key}`;
      connect(first.kind === 'waits for' ? { ...first, from: crowd } : { ...first, to: crowd });
      const lines = [`and ${plural(kind.length - shown.length, 'more', 'more')}`];
      nodes.set(crowd, { id: crowd, kind: 'crowd', isInCycle: false, lines });
    }
  }
  return { nodes: [...nodes.values()], edges, leftOut: keys.length - drawn };
}

function described(id: string, node: WaitGraphNode | undefined): Pick<DrawnNode, 'kind' | 'lines'> {
  if (node === undefined || node.kind === 'key') return { kind: 'key', lines: [node?.name ?? id] };
  const { client, name } = node;
  return {
    kind: 'owner',
    lines: client === undefined ? [name] : [client.label ?? name, `${client.host ?? '?'}:${client.pid ?? '?'}`],
  };
}

function foremost(edges: readonly WaitGraphEdge[], inCycle: ReadonlySet<string>): readonly WaitGraphEdge[] {
  const isOfCycle = ({ from, to }: WaitGraphEdge): boolean => inCycle.has(from) && inCycle.has(to);
  if (edges.length <= MAX_CALLERS + 1) return edges;
  return [...edges.filter(isOfCycle), ...edges.filter((edge) => !isOfCycle(edge))].slice(0, MAX_CALLERS);
}

function groupedBy(
  edges: readonly WaitGraphEdge[],
  kind: WaitGraphEdge['kind'],
  idOf: (edge: WaitGraphEdge) => string,
): ReadonlyMap<string, readonly WaitGraphEdge[]> {
  const groups = new Map<string, WaitGraphEdge[]>();
  for (const edge of edges) {
    if (edge.kind !== kind) continue;
    const group = groups.get(idOf(edge)) ?? [];
    group.push(edge);
    groups.set(idOf(edge), group);
  }
  return groups;
}
