import { visible } from '../../lock/visible.js';
import type { WaitGraph, WaitGraphEdge } from '../doctor/wait-graph.js';

/** The graph in the language of Graphviz: keys are boxes, callers round; what belongs to a deadlock is red. */
export function dotOf({ nodes, edges, cycles }: WaitGraph): string[] {
  const inCycle = new Set(
    cycles.flatMap((cycle) => cycle.map((id, index) => stepOf(id, cycle[(index + 1) % cycle.length]!))),
  );
  const shape = { key: 'box', owner: 'ellipse' } as const;
  const colour = ({ from, to }: WaitGraphEdge): string => (inCycle.has(stepOf(from, to)) ? ', color="red"' : '');
  return [
    'digraph waits {',
    '  rankdir=LR;',
    ...nodes.map(({ id, kind, name }) => `  ${text(id)} [shape=${shape[kind]}, label=${text(name)}];`),
    ...edges.map((edge) => `  ${text(edge.from)} -> ${text(edge.to)} [label=${text(edge.kind)}${colour(edge)}];`),
    '}',
  ];
}

function stepOf(from: string, to: string): string {
  return JSON.stringify([from, to]);
}

/** Escapes a text that others wrote: it must not end the quotes around it. */
function text(value: string): string {
  return `"${visible(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
