import type { LockMode } from '../lock/mode.js';
import { isSpent, parseNodeName, type QueueNode } from './node-name.js';

/** What a contender does next, given the names that it saw. */
export type Decision =
  | { readonly kind: 'hold' }
  /**
   * A reader that an upgrader may have overlooked. It holds if the data of every intent names it, and waits otherwise.
   */
  | { readonly kind: 'hold if named'; readonly intents: readonly QueueNode[] }
  /**
   * `head` is the first node in the queue, so it holds. `onlyOneAhead` marks an exclusive or write contender that may
   * enter as soon as `watch` is deleted, without another look.
   */
  | { readonly kind: 'wait'; readonly watch: QueueNode; readonly head: QueueNode; readonly onlyOneAhead: boolean }
  /** The contender's own node is no longer there. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'refuse'; readonly reason: Refusal };

export type Refusal =
  /** The server's counter is used up, so the order of the queue means nothing any more. */
  | { readonly because: 'counter spent'; readonly node: QueueNode }
  /** A client of another make stands in this queue and does not see contenders of this mode. */
  | { readonly because: 'foreign family'; readonly node: QueueNode };

/** The queue nodes among the children of a key, in the order in which they are served. */
export function readQueue(children: readonly string[]): QueueNode[] {
  const nodes: QueueNode[] = [];
  for (const name of children) {
    const node = parseNodeName(name);
    if (node !== undefined) nodes.push(node);
  }
  // The names begin differently, so they sort by number and never as text.
  return nodes.sort((left, right) => left.sequence - right.sequence);
}

/** Whether a contender of `mode` must wait for a contender of mode `ahead` in front of it. */
export function blocks(ahead: LockMode, mode: LockMode): boolean {
  switch (mode) {
    case 'exclusive':
    case 'write':
      return true;
    case 'read':
      return ahead === 'exclusive' || ahead === 'write';
    case 'upgradeable':
      return ahead !== 'read';
  }
}

/** Applies the rule of the queue to the names of a list. */
export function decide(children: readonly string[], ownName: string): Decision {
  const own = parseNodeName(ownName);
  return own === undefined ? { kind: 'gone' } : decideIn(readQueue(children), own);
}

/**
 * Applies the rule of the queue: a contender with no blocking node ahead holds, every other one waits for the nearest
 * blocking node ahead.
 */
export function decideIn(queue: readonly QueueNode[], own: QueueNode): Decision {
  // At its ceiling the counter gives every later node the same number, so no order can be trusted.
  if (isSpent(own.sequence)) return { kind: 'refuse', reason: { because: 'counter spent', node: own } };
  const reason = refusalIn(queue, own.mode, own.name);
  if (reason !== undefined) return { kind: 'refuse', reason };

  const ownIndex = queue.findIndex(({ name }) => name === own.name);
  if (ownIndex === -1) return { kind: 'gone' };
  const ahead = queue.slice(0, ownIndex);
  // Only the nearest blocker is watched, so that a release wakes one contender and not all.
  const blocker = ahead.findLast(({ mode }) => blocks(mode, own.mode));
  if (blocker !== undefined) {
    const onlyOneAhead = ahead.length === 1 && (own.mode === 'exclusive' || own.mode === 'write');
    return { kind: 'wait', watch: blocker, head: ahead[0]!, onlyOneAhead };
  }
  if (own.mode === 'read') {
    // An upgrader lists the readers inside into its intent. A reader between the upgrader and its intent may have
    // entered the queue after that list, so the intent's data decides whether it was seen.
    const upgraders = new Set(ahead.filter(({ mode }) => mode === 'upgradeable').map(({ id }) => id));
    const behind = queue.slice(ownIndex + 1);
    const intents = behind.filter(({ mode, id }) => mode === 'write' && id !== undefined && upgraders.has(id));
    if (intents.length > 0) return { kind: 'hold if named', intents };
  }
  return { kind: 'hold' };
}

/** The nodes that would block a contender of this mode if it came now, at the end of this queue. */
export function inTheWayOf(queue: readonly QueueNode[], mode: LockMode): readonly QueueNode[] {
  return queue.filter((node) => blocks(node.mode, mode));
}

/** What is to be known of a contender to count it: its node may be still to come. */
export type Counted = Pick<QueueNode, 'mode' | 'id'>;

/**
 * How many are ahead of a contender of this mode that comes now, at the end of this queue: those that it would have to
 * wait for. Those that are inside together are one, as they are waited for together.
 */
export function countAhead(queue: Iterable<Counted>, mode: LockMode): number {
  const modesAhead = new Set<LockMode>();
  const ids = new Set<string>();
  let isHeld = false;
  let waiting = 0;
  for (const { mode: itsMode, id } of queue) {
    const holds = ![...modesAhead].some((ahead) => blocks(ahead, itsMode));
    modesAhead.add(itsMode);
    if (!blocks(itsMode, mode)) continue;
    // An upgrader and its intent have one id, and are one contender. A caller may also name one that it knows of in two ways.
    if (id !== undefined) {
      if (ids.has(id)) continue;
      ids.add(id);
    }
    if (holds) isHeld = true;
    else waiting += 1;
  }
  return waiting + (isHeld ? 1 : 0);
}

/** Why a contender of this mode cannot stand in this queue at all. Its own node is never the reason. */
export function refusalIn(queue: readonly QueueNode[], mode: LockMode, ownName?: string): Refusal | undefined {
  for (const node of queue) {
    if (node.name === ownName) continue;
    if (isSpent(node.sequence)) return { because: 'counter spent', node };
    if (!sharesFamily(mode, node)) return { because: 'foreign family', node };
  }
  return undefined;
}

/**
 * The readers that an upgrader has to wait for: all that may be inside at this moment, which are those with no
 * exclusive or write contender ahead. `intentName` is the upgrader's own write node.
 *
 * A writer in front of the upgrader keeps nobody out. The upgrader holds, so that writer has released its lock, and let
 * those of its process in.
 */
export function readersInside(children: readonly string[], intentName: string): QueueNode[] {
  const queue = readQueue(children);
  const id = parseNodeName(intentName)?.id;
  const upgrader = queue.findIndex((node) => node.mode === 'upgradeable' && node.id === id);
  const readers: QueueNode[] = [];
  for (const [index, node] of queue.entries()) {
    if (node.mode === 'read') readers.push(node);
    // A reader behind a writer waits for it, so it cannot be inside.
    else if (index > upgrader && node.mode !== 'upgradeable') break;
  }
  return readers;
}

/**
 * Whether contenders of this mode and this node see each other. Curator's mutex and its read-write lock do not, and no
 * other client knows upgradeable locks. So a key in whose queue another client stands belongs to one family.
 */
function sharesFamily(mode: LockMode, node: QueueNode): boolean {
  if (node.ours) return true;
  switch (mode) {
    case 'exclusive':
      return node.mode === 'exclusive';
    case 'read':
    case 'write':
      // kazoo gives its mutex and its write lock the same name, so that name belongs to both families.
      return node.mode === 'read' || node.mode === 'write' || node.name.includes('__lock__');
    case 'upgradeable':
      return false;
  }
}

/** Whether a contender may write, as the names of a queue tell. */
export type WriterState =
  | { readonly kind: 'holds' }
  /** The node `behind` and others ahead of it are still there. */
  | { readonly kind: 'waits'; readonly behind: string }
  /** A reader, a name that is no contender, or an upgradeable contender that has not asked for its upgrade. */
  | { readonly kind: 'is no writer' };

export function writerState(names: readonly string[], name: string): WriterState {
  const own = parseNodeName(name);
  if (own === undefined || own.mode === 'read') return { kind: 'is no writer' };
  const decision = decide(names, name);
  if (decision.kind === 'wait') return { kind: 'waits', behind: decision.watch.name };
  // An upgradeable holder may write only once its upgrade has put an intent into the queue: a write node with the same id.
  const hasIntent = readQueue(names).some(({ mode, id }) => mode === 'write' && id === own.id);
  const mayWrite = decision.kind === 'hold' && (own.mode !== 'upgradeable' || hasIntent);
  return { kind: mayWrite ? 'holds' : 'is no writer' };
}
