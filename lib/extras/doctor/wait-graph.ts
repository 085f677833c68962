import { type AsJson, jsonOf, withJson } from '../../lock/json.js';
import type { ClientDescription, ClientDescriptionJson } from '../../lock/snapshot.js';

export interface WaitGraphNode {
  /** Edges and cycles call it by this. */
  readonly id: string;
  /** `owner`: a logical caller in one process. `key`: a lock. */
  readonly kind: 'owner' | 'key';
  /** For people: the key; of an owner its label, host and process. */
  readonly name: string;
  /** An owner says this about itself; undefined for keys, and for contenders that do not say. */
  readonly client?: ClientDescription | undefined;
}

export interface WaitGraphEdge {
  readonly from: string;
  readonly to: string;
  /** An owner waits for a key; a key is held by an owner. */
  readonly kind: 'waits for' | 'held by';
}

export interface WaitGraphFacts {
  readonly nodes: readonly WaitGraphNode[];
  readonly edges: readonly WaitGraphEdge[];
  /** Deadlocks: the ids of owners and keys in turn. Each waits for the next one, or is held by it, and the last for the first. */
  readonly cycles: readonly (readonly string[])[];
}

/** A node of the graph in JSON. */
export interface WaitGraphNodeJson extends Omit<WaitGraphNode, 'client'> {
  readonly client?: ClientDescriptionJson | undefined;
}

/** A graph in JSON. */
export interface WaitGraphJson extends Omit<WaitGraphFacts, 'nodes'> {
  readonly nodes: readonly WaitGraphNodeJson[];
}

/** Tells who waits for whom. `JSON.stringify` accepts it. */
export interface WaitGraph extends WaitGraphFacts, AsJson<WaitGraphJson> {}

export function waitGraph(facts: WaitGraphFacts): WaitGraph {
  return withJson<WaitGraphFacts, WaitGraphJson>(facts, graphJson);
}

function graphJson(this: WaitGraphFacts): WaitGraphJson {
  const nodes = this.nodes.map(({ client, ...node }) =>
    client === undefined ? node : { ...node, client: jsonOf(client) },
  );
  return { ...this, nodes };
}
