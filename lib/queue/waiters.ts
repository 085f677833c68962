import { blocks, readQueue } from './decide.js';

/** A contender that waits, by the names of its queue. */
export interface Waiter {
  readonly name: string;
  /** The nearest one ahead that is in its way: as long as that node is there, it does not hold the lock. */
  readonly behind: string;
}

/**
 * Those who wait, in the order in which they would be served. A reader beside an upgrader may be inside, so it does not count.
 * Nor does an upgrader's second node, which is no contender of its own.
 */
export function waitersIn(children: readonly string[]): Waiter[] {
  const queue = readQueue(children);
  const upgraders = new Set(queue.filter(({ mode }) => mode === 'upgradeable').map(({ id }) => id));
  return queue.flatMap(({ name, mode, id }, index) => {
    if (mode === 'write' && id !== undefined && upgraders.has(id)) return [];
    const behind = queue.slice(0, index).findLast((ahead) => blocks(ahead.mode, mode));
    return behind === undefined ? [] : [{ name, behind: behind.name }];
  });
}
