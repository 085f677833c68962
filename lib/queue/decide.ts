import type { LockMode } from '../lock/mode.js';
import { isSpent, parseNodeName, type QueueNode } from './node-name.js';

/** What a contender is to do, given the names it saw. */
export type Decision =
  | { readonly kind: 'hold' }
  /** A reader that an upgrader may have overlooked: it holds when each intent's data names it, and waits otherwise. */
  | { readonly kind: 'hold if named'; readonly intents: readonly QueueNode[] }
  /**
   * `head` is the first in the queue: it holds. `onlyOneAhead`: an exclusive or write contender that may enter as soon as
   * `watch` is deleted, without another look.
   */
  | { readonly kind: 'wait'; readonly watch: QueueNode; readonly head: QueueNode; readonly onlyOneAhead: boolean }
  /** Its own node is not there any more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'refuse'; readonly reason: Refusal };

export type Refusal =
  /** The server's counter is used up: the order of the queue means nothing any more. */
  | { readonly because: 'counter spent'; readonly node: QueueNode }
  /** A client of another make stands in this queue and does not see contenders of our mode. */
  | { readonly because: 'foreign family'; readonly node: QueueNode };

/** All queue nodes among the children of a key, in the order in which they are served. */
export function readQueue(children: readonly string[]): QueueNode[] {
  const nodes: QueueNode[] = [];
  for (const name of children) {
    const node = parseNodeName(name);
    if (node !== undefined) nodes.push(node);
  }
  return nodes.sort((left, right) => left.sequence - right.sequence);
}

/** Whether a contender of `mode` must wait for one of mode `ahead` in front of it. */
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

/**
 * The rule of the queue: one pass over the names, no sorting. Whoever has nobody ahead that blocks it holds; everybody
 * else waits for the nearest one ahead that does.
 */
export function decide(children: readonly string[], ownName: string): Decision {
  const own = parseNodeName(ownName);
  if (own === undefined) return { kind: 'gone' };
  if (isSpent(own.sequence)) return { kind: 'refuse', reason: { because: 'counter spent', node: own } };

  let present = false;
  let ahead = 0;
  let blocker: QueueNode | undefined;
  let head = own;
  const intentsBehind: QueueNode[] = [];
  const upgradersAhead = new Set<string>();
  for (const name of children) {
    if (name === ownName) {
      present = true;
      continue;
    }
    const node = parseNodeName(name);
    if (node === undefined) continue;
    const reason = refusalBy(node, own.mode);
    if (reason !== undefined) return { kind: 'refuse', reason };
    if (node.sequence > own.sequence) {
      if (node.mode === 'write') intentsBehind.push(node);
      continue;
    }
    ahead += 1;
    if (node.sequence < head.sequence) head = node;
    if (node.mode === 'upgradeable' && node.id !== undefined) upgradersAhead.add(node.id);
    if (blocks(node.mode, own.mode) && (blocker === undefined || node.sequence > blocker.sequence)) blocker = node;
  }

  if (!present) return { kind: 'gone' };
  if (blocker !== undefined) {
    const onlyOneAhead = ahead === 1 && (own.mode === 'exclusive' || own.mode === 'write');
    return { kind: 'wait', watch: blocker, head, onlyOneAhead };
  }
  if (own.mode === 'read') {
    const intents = intentsBehind.filter(({ id }) => id !== undefined && upgradersAhead.has(id));
    if (intents.length > 0) return { kind: 'hold if named', intents };
  }
  return { kind: 'hold' };
}

/**
 * The readers an upgrader has to wait for: all that may be inside at this moment, which are those without an exclusive or
 * write contender ahead of them. `intentName` is the upgrader's own write node.
 */
export function readersInside(children: readonly string[], intentName: string): QueueNode[] {
  const queue = readQueue(children);
  const readers: QueueNode[] = [];
  for (const node of queue) {
    if (node.name === intentName || node.mode === 'exclusive' || node.mode === 'write') break;
    if (node.mode === 'read') readers.push(node);
  }
  return readers;
}

/** Why a contender of `mode` cannot stand in a queue with this one, which is more than having to wait for it. */
export function refusalBy(node: QueueNode, mode: LockMode): Refusal | undefined {
  if (isSpent(node.sequence)) return { because: 'counter spent', node };
  return sharesFamily(mode, node) ? undefined : { because: 'foreign family', node };
}

/**
 * Curator's mutex and its read-write lock do not see each other, and nobody else knows upgradeable locks, so where a
 * client of another make queues, a key belongs to one family. kazoo writes the same name for its mutex and its write lock.
 */
function sharesFamily(mode: LockMode, node: QueueNode): boolean {
  if (node.ours) return true;
  switch (mode) {
    case 'exclusive':
      return node.mode === 'exclusive';
    case 'read':
    case 'write':
      return node.mode === 'read' || node.mode === 'write' || node.name.includes('__lock__');
    case 'upgradeable':
      return false;
  }
}
