import { decide } from './decide.js';
import { parseNodeName } from './node-name.js';

/** Whether a contender may write, as the names of a queue tell. */
export type WriterStanding =
  | { readonly kind: 'holds' }
  /** The node `behind` and others ahead of it are still there. */
  | { readonly kind: 'waits'; readonly behind: string }
  /** A reader, a name that is no contender, or an upgradeable contender that has not asked for its upgrade. */
  | { readonly kind: 'is no writer' };

export function writerStanding(names: readonly string[], name: string): WriterStanding {
  const own = parseNodeName(name);
  if (own === undefined || own.mode === 'read') return { kind: 'is no writer' };
  const decision = decide(names, name);
  if (decision.kind === 'wait') return { kind: 'waits', behind: decision.watch.name };
  // An upgradeable holder may write only once its upgrade has put an intent into the queue.
  const mayWrite = decision.kind === 'hold' && (own.mode !== 'upgradeable' || hasIntent(names, own.id));
  return { kind: mayWrite ? 'holds' : 'is no writer' };
}

/** An upgrader keeps its own node and adds an intent, a write node with the same id at the tail of the queue. */
function hasIntent(names: readonly string[], id: string | undefined): boolean {
  return names.some((other) => {
    const node = parseNodeName(other);
    return node?.mode === 'write' && node.id === id;
  });
}
