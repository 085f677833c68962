import { nameOf, parentOf } from './paths.js';
import type { Change } from './transaction.js';
import type { Tree } from './tree.js';

/** Remembers what `change` is about to touch, for a multi that fails half-way. The returned function restores it. */
export function undoOf(tree: Tree, change: Change): () => void {
  switch (change.op) {
    case 'create':
    case 'delete': {
      const parent = tree.existing(parentOf(change.path));
      const { creates, pzxid } = parent;
      const removed = tree.nodes.get(change.path);
      return () => {
        // The counter goes back too: the refused create has used up no number.
        parent.creates = creates;
        parent.pzxid = pzxid;
        if (removed === undefined) {
          const created = tree.existing(change.path);
          parent.children.delete(nameOf(change.path));
          tree.nodes.delete(change.path);
          tree.unindex(change.path, created);
        } else {
          parent.children.add(nameOf(change.path));
          tree.nodes.set(change.path, removed);
          tree.index(change.path, removed);
        }
      };
    }
    case 'set': {
      const node = tree.existing(change.path);
      const { data, version, mzxid, mtime } = node;
      return () => Object.assign(node, { data, version, mzxid, mtime });
    }
    case 'check':
    case 'createSession':
    case 'closeSession':
      return () => undefined;
  }
}
