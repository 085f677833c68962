import type { LockMode } from '../../lock/mode.js';
import { blocks } from '../../queue/decide.js';
import type { QueueNode } from '../../queue/node-name.js';
import type { NodeData } from '../../session/requests.js';
import { namesReader } from '../hold/upgrade-intent.js';

/** What was read of the nodes of a queue, by name; of a long queue not all is. `left`: it was listed, and is gone. */
export type Found = ReadonlyMap<string, NodeData | 'left'>;

/**
 * How a contender stands, as somebody who only looks can tell.
 *
 * - `unnamed`: a reader that an upgrader names only if it is inside, and the upgrader has written no names (yet)
 * - `intent`: an upgrader's second node, no contender of its own
 */
export type Standing = 'holds' | 'waits' | 'unnamed' | 'intent';

interface Intent {
  readonly node: QueueNode;
  readonly upgrader: QueueNode;
}

/** Whoever has nobody ahead that blocks it holds, but for readers that an upgrader overlooked. */
export function standings(queue: readonly QueueNode[], found: Found): Map<QueueNode, Standing> {
  const intents = intentsOf(queue);
  const intentNodes = new Set(intents.map(({ node }) => node));
  const ahead = new Set<LockMode>();
  const result = new Map<QueueNode, Standing>();
  for (const node of queue) {
    const isBlocked = [...ahead].some((other) => blocks(other, node.mode));
    ahead.add(node.mode);
    if (intentNodes.has(node)) result.set(node, 'intent');
    else if (isBlocked) result.set(node, 'waits');
    else result.set(node, node.mode === 'read' ? readerBefore(intents, node, found) : 'holds');
  }
  return result;
}

/** Whether the queue changed between its list and what was read of it, or is about to, so that another look says more. */
export function isMoving(queue: readonly QueueNode[], found: Found): boolean {
  return [...standings(queue, found)].some(
    ([{ name }, standing]) => standing === 'unnamed' || (standing === 'holds' && found.get(name) === 'left'),
  );
}

function readerBefore(intents: readonly Intent[], reader: QueueNode, found: Found): Standing {
  let standing: Standing = 'holds';
  for (const { node, upgrader } of intents) {
    const isBetween = upgrader.sequence < reader.sequence && reader.sequence < node.sequence;
    const intent = found.get(node.name);
    if (!isBetween || intent === undefined || intent === 'left') continue;
    if (intent.data.length === 0) standing = 'unnamed';
    else if (!namesReader(intent.data, reader.name)) return 'waits';
  }
  return standing;
}

function intentsOf(queue: readonly QueueNode[]): Intent[] {
  const upgraders = new Map<string | undefined, QueueNode>();
  for (const node of queue) if (node.mode === 'upgradeable') upgraders.set(node.id, node);
  const intents: Intent[] = [];
  for (const node of queue) {
    const upgrader = node.mode === 'write' && node.id !== undefined ? upgraders.get(node.id) : undefined;
    if (upgrader !== undefined) intents.push({ node, upgrader });
  }
  return intents;
}
