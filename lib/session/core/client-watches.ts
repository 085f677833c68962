import type { Watcher } from '../requests.js';
import type { Call } from './call.js';
import type { Conversation } from './conversation.js';
import type { RemovableWatch, WatchKind } from './link.js';
import { WatchRegistry } from './watch-registry.js';

/**
 * The watches of a session, and what the server keeps of them. The answer to a request sets a watch. A watch that
 * nobody wants is removed at the server, also while a request for the same watch is still under way.
 */
export class ClientWatches {
  readonly registry = new WatchRegistry();
  readonly #conversation: () => Conversation | undefined;

  constructor(conversation: () => Conversation | undefined) {
    this.#conversation = conversation;
  }

  unwatch(path: string, watcher: Watcher): void {
    const unwanted = new Set(this.registry.remove(path, watcher));
    const conversation = this.#conversation();
    if (conversation === undefined) return;
    for (const kind of conversation.unwatch(path, watcher)) if (!this.registry.wants(path, kind)) unwanted.add(kind);
    // The removal is sent now, also behind a request that is still to set the watch: whatever is sent later finds it gone.
    for (const kind of unwanted) this.#removeAtServer(conversation, path, kind);
  }

  /** The server has set the watch that the call asked for. `found` tells whether the node is there. */
  set(call: Call, found: boolean): void {
    const { path, watcher, watchTable } = call;
    if (path === undefined || watcher === undefined || watchTable === undefined) return;
    const conversation = this.#conversation();
    // The watch that now exists is decided on below, so no removal of it is owed any more.
    conversation?.skippedRemovals.delete(`${watchTable}${path}`);
    if (!call.unwatched) this.registry.add(kindOf(call, found), path, watcher);
    else if (conversation !== undefined && !call.isRemovedBehind && !this.registry.wants(path, watchTable)) {
      this.#removeAtServer(conversation, path, watchTable);
    }
  }

  /** The call failed, so it set no watch. A removal that was put off for its sake is sent now. */
  notSet({ path, watchTable }: Call): void {
    const conversation = this.#conversation();
    if (path === undefined || watchTable === undefined || conversation === undefined) return;
    if (!conversation.skippedRemovals.delete(`${watchTable}${path}`) || this.registry.wants(path, watchTable)) return;
    this.#removeAtServer(conversation, path, watchTable);
  }

  #removeAtServer(conversation: Conversation, path: string, kind: RemovableWatch): void {
    const removal = `${kind}${path}`;
    // A removal at the server would also take the watch that another request under way is about to set.
    if (conversation.wantsWatchOn(path, kind)) conversation.skippedRemovals.add(removal);
    else {
      conversation.skippedRemovals.delete(removal);
      conversation.removeWatches(path, kind);
    }
  }
}

function kindOf(call: Call, found: boolean): WatchKind {
  // An `exists` on a missing node leaves a watch for its creation.
  if (call.watchTable === 'children') return 'children';
  return call.request.op === 'exists' && !found ? 'exists' : 'data';
}
