import { readQueue } from '../../../queue/decide.js';
import type { QueueNode } from '../../../queue/node-name.js';
import { isReservedName } from '../../../queue/reserved-names.js';
import { SessionError } from '../../../session/errors.js';
import { list, type Stat } from '../../../session/requests.js';
import { type ManyReads, READS_AT_ONCE } from './many-reads.js';

/** A node that is no contender, as its list showed it. */
export interface ListedNode {
  readonly path: string;
  readonly stat: Stat;
  /** Its contenders, in the order of the queue. */
  readonly queue: readonly QueueNode[];
  /** Its children that are this package's own, and no contenders. */
  readonly reserved: readonly string[];
  /** Its other children, which are keys, or the parents of keys, or somebody else's. */
  readonly below: readonly string[];
}

/** The lists of a part of the tree have shown this. */
export interface LockTree {
  readonly nodes: readonly ListedNode[];
  /** The nodes that could not be listed, most often for want of rights. */
  readonly unreadable: readonly SessionError[];
}

/**
 * Lists a node and everything below it, some nodes at a time. A node that vanishes meanwhile is left out.
 * @param onNodes told how many nodes were listed since the last time
 */
export async function readTree(reads: ManyReads, root: string, onNodes: (count: number) => void): Promise<LockTree> {
  const nodes: ListedNode[] = [];
  const unreadable: SessionError[] = [];
  const left = [root];
  while (left.length > 0) {
    const paths = left.splice(-READS_AT_ONCE);
    const outcomes = await reads.answers(
      paths.map((path) => list(path)),
      onNodes,
    );
    outcomes.forEach((listed, index) => {
      if (!(listed instanceof SessionError)) {
        const node = listedNode(paths[index]!, listed.stat, listed.children);
        nodes.push(node);
        for (const name of node.below) left.push(pathBelow(node.path, name));
      } else if (listed.code !== 'NO_NODE') unreadable.push(listed);
    });
  }
  return { nodes, unreadable };
}

export function listedNode(path: string, stat: Stat, children: readonly string[]): ListedNode {
  const queue = readQueue(children);
  const contenders = new Set(queue.map(({ name }) => name));
  const others = children.filter((name) => !contenders.has(name));
  return {
    path,
    stat,
    queue,
    reserved: others.filter(isReservedName),
    below: others.filter((name) => !isReservedName(name)),
  };
}

export function pathBelow(path: string, name: string): string {
  return path === '/' ? `/${name}` : `${path}/${name}`;
}
