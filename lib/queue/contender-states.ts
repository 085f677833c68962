import type { LockMode } from '../lock/mode.js';
import { blocks } from './decide.js';
import { namesReader } from './intent-data.js';
import type { QueueNode } from './node-name.js';

/** What was read of the nodes of a queue, by name. A node that was listed but has gone is `left`; some were not read at all. */
export type Found = ReadonlyMap<string, { readonly data: Uint8Array } | 'left'>;

/**
 * What a contender does, as far as its queue shows it.
 *
 * - `unnamed`: a reader in front of an intent that has no names yet. The upgrader will name it if it is inside.
 * - `intent`: an upgrader's second node, which is no contender of its own
 */
export type ContenderState = 'holds' | 'waits' | 'unnamed' | 'intent';

interface Intent {
  readonly node: QueueNode;
  readonly upgrader: QueueNode;
}

/** A contender holds if nobody ahead blocks it. The exception is a reader that an upgrader has not named. */
export function contenderStates(queue: readonly QueueNode[], found: Found): Map<QueueNode, ContenderState> {
  const intents = intentsOf(queue);
  const intentNodes = new Set(intents.map(({ node }) => node));
  const ahead = new Set<LockMode>();
  const result = new Map<QueueNode, ContenderState>();
  for (const node of queue) {
    const isBlocked = [...ahead].some((other) => blocks(other, node.mode));
    ahead.add(node.mode);
    if (intentNodes.has(node)) result.set(node, 'intent');
    else if (isBlocked) result.set(node, 'waits');
    else result.set(node, node.mode === 'read' ? readerBefore(intents, node, found) : 'holds');
  }
  return result;
}

/** Whether the queue changed while it was read, or is about to, so that another look shows more. */
export function isMoving(queue: readonly QueueNode[], found: Found): boolean {
  return [...contenderStates(queue, found)].some(
    ([{ name }, state]) => state === 'unnamed' || (state === 'holds' && found.get(name) === 'left'),
  );
}

/** The state of a reader that no contender's mode blocks, by the intents behind it. */
function readerBefore(intents: readonly Intent[], reader: QueueNode, found: Found): ContenderState {
  let state: ContenderState = 'holds';
  for (const { node, upgrader } of intents) {
    // A reader in front of the upgrader is inside in any case, and one behind the intent is blocked by its mode.
    const isBetween = upgrader.sequence < reader.sequence && reader.sequence < node.sequence;
    const intent = found.get(node.name);
    if (!isBetween || intent === undefined || intent === 'left') continue;
    if (intent.data.length === 0) state = 'unnamed';
    else if (!namesReader(intent.data, reader.name)) return 'waits';
  }
  return state;
}

function intentsOf(queue: readonly QueueNode[]): Intent[] {
  // An intent has the id of its upgrader's contender in its name.
  const upgraders = new Map<string | undefined, QueueNode>();
  for (const node of queue) if (node.mode === 'upgradeable') upgraders.set(node.id, node);
  const intents: Intent[] = [];
  for (const node of queue) {
    const upgrader = node.mode === 'write' && node.id !== undefined ? upgraders.get(node.id) : undefined;
    if (upgrader !== undefined) intents.push({ node, upgrader });
  }
  return intents;
}
