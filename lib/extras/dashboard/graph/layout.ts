import { LockConfigurationError } from '../../../lock/errors.js';
import type { DrawnEdge, DrawnNode, Excerpt } from './excerpt.js';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PlacedNode extends DrawnNode, Point {
  readonly width: number;
  readonly height: number;
}

export interface PlacedEdge extends DrawnEdge {
  readonly points: readonly Point[];
}

export interface Layout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

/** Of the drawing's font, in pixels. */
const CHARACTER_WIDTH = 7.3;
const LINE_HEIGHT = 16;
const PADDING = 10;
export const MAX_CHARACTERS = 34;

/** The members of the package that are used. */
interface Dagre {
  readonly graphlib: { readonly Graph: new () => DagreGraph };
  layout(graph: DagreGraph): unknown;
}

interface DagreGraph {
  setGraph(label: object): unknown;
  setNode(id: string, label: object): unknown;
  setEdge(from: string, to: string, label: object): unknown;
  node(id: string): unknown;
  edge(from: string, to: string): unknown;
  graph(): unknown;
}

/**
 * Loads the layout of graphs when the first graph is asked for: most applications never need it.
 * @throws LockConfigurationError where the package is not installed
 */
export async function loadDagre(
  load: () => Promise<{ readonly default: unknown }> = () => import('@dagrejs/dagre'),
): Promise<Dagre> {
  try {
    return (await load()).default as Dagre;
  } catch (error) {
    throw new LockConfigurationError(
      'The drawing of who waits for whom needs the package @dagrejs/dagre, which could not be loaded. Install it: npm install ' +
        `@dagrejs/dagre. (${error instanceof Error ? error.message : String(error)})`,
      undefined,
      { cause: error },
    );
  }
}

/** Finds a place for every box, from left to right: who waits stands left of what is waited for, and that left of its holder. */
export function layOut(dagre: Dagre, { nodes, edges }: Excerpt): Layout {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 46, marginx: 8, marginy: 8 });
  for (const { id, lines } of nodes) graph.setNode(id, sizeOf(lines));
  for (const { from, to } of edges) graph.setEdge(from, to, {});
  dagre.layout(graph);
  const { width, height } = graph.graph() as { readonly width: number; readonly height: number };
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    nodes: nodes.map((node) => ({ ...node, ...(graph.node(node.id) as Point & ReturnType<typeof sizeOf>) })),
    edges: edges.map((edge) => ({
      ...edge,
      ...(graph.edge(edge.from, edge.to) as { readonly points: readonly Point[] }),
    })),
  };
}

function sizeOf(lines: readonly string[]): { readonly width: number; readonly height: number } {
  const longest = Math.max(...lines.map((line) => Math.min(MAX_CHARACTERS, line.length)));
  return { width: Math.ceil(longest * CHARACTER_WIDTH) + 2 * PADDING, height: lines.length * LINE_HEIGHT + PADDING };
}
