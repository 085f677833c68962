import { decide } from './decide.js';
import { parseNodeName } from './node-name.js';

/** What the names of a queue tell of one contender: whether it is the one that may write. */
export type WriterStanding =
  | { readonly kind: 'holds' }
  /** The names ahead of it are still there. */
  | { readonly kind: 'waits'; readonly behind: string }
  /** A reader, or what is no contender; an upgradeable one that has not asked for its upgrade. */
  | { readonly kind: 'is no writer' };

export function writerStanding(names: readonly string[], name: string): WriterStanding {
  const own = parseNodeName(name);
  if (own === undefined || own.mode === 'read') return { kind: 'is no writer' };
  const decision = decide(names, name);
  if (decision.kind === 'wait') return { kind: 'waits', behind: decision.watch.name };
  const mayWrite = decision.kind === 'hold' && (own.mode !== 'upgradeable' || hasIntent(names, own.id));
  return { kind: mayWrite ? 'holds' : 'is no writer' };
}

/** An upgrader keeps its own node, and stands at the tail once more as a writer with the same id. */
function hasIntent(names: readonly string[], id: string | undefined): boolean {
  return names.some((other) => {
    const node = parseNodeName(other);
    return node?.mode === 'write' && node.id === id;
  });
}
