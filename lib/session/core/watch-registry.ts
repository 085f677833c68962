import { withChroot } from '../paths.js';
import type { WatchEvent, Watcher } from '../requests.js';
import type { Call } from './call.js';
import type { Conversation } from './conversation.js';
import type { ControlRequest, RemovableWatch, WatchKind } from './link.js';

type Watches = Map<string, Set<Watcher>>;
type SetWatches = Extract<ControlRequest, { op: 'setWatches' }>;
/** Counted in UTF-16 units, which take three bytes at the most: well under the megabyte at which a server hangs up. */
const MAX_PATH_UNITS = 128 * 1_024;

const ALL_WATCHES = ['data', 'exists', 'children'] as const;

/** The watches that an event uses up. */
const USED_UP_BY: Readonly<Record<WatchEvent['type'], readonly WatchKind[]>> = {
  created: ['data', 'exists'],
  changed: ['data', 'exists'],
  deleted: ALL_WATCHES,
  children: ['children'],
  lost: ALL_WATCHES,
};

/** The watchers of each path. A server keeps one watch per path and kind, however many watchers want it here. */
export class WatchRegistry {
  readonly #watches: Readonly<Record<WatchKind, Watches>> = {
    data: new Map(),
    exists: new Map(),
    children: new Map(),
  };
  /** Rounds of calls to watchers that are going on now. A watcher that is removed meanwhile is taken out of them. */
  readonly #rounds = new Set<Watches>();

  add(kind: WatchKind, path: string, watcher: Watcher): void {
    const watches = this.#watches[kind];
    const watchers = watches.get(path);
    if (watchers === undefined) watches.set(path, new Set([watcher]));
    else watchers.add(watcher);
  }

  wants(path: string, table: RemovableWatch): boolean {
    if (table === 'data') return this.#watches.data.has(path) || this.#watches.exists.has(path);
    return this.#watches.children.has(path);
  }

  /** @returns the watches that the server no longer has to keep for this client */
  remove(path: string, watcher: Watcher): RemovableWatch[] {
    // A watcher that was removed during a round of calls must not be called any more.
    for (const round of this.#rounds) round.get(path)?.delete(watcher);
    const unwanted: RemovableWatch[] = [];
    if (this.#removeWatcher('children', path, watcher)) unwanted.push('children');
    const isData = this.#removeWatcher('data', path, watcher);
    const isExists = this.#removeWatcher('exists', path, watcher);
    // The server keeps data and exists watches in one table, so that one may still be needed for the other.
    if ((isData || isExists) && !this.wants(path, 'data')) unwanted.push('data');
    return unwanted;
  }

  /** Calls the watchers whom this event concerns. The event uses up their one-shot watches. */
  fire(event: WatchEvent): void {
    const { type, path } = event;
    // A watcher that watches a path in several ways is called once for one event.
    let watchers: Set<Watcher> | undefined;
    for (const kind of USED_UP_BY[type]) {
      const some = this.#take(kind, path);
      if (watchers === undefined) watchers = some;
      else for (const watcher of some ?? []) watchers.add(watcher);
    }
    if (watchers === undefined) return;
    this.#callWatchers(new Map([[path, watchers]]), (watcher) => watcher.onWatchEvent(event));
  }

  /** Tells every watcher that the session is over, and its watches with it. */
  tellLost(): void {
    const round: Watches = new Map();
    for (const kind of ALL_WATCHES) {
      for (const [path, watchers] of this.#watches[kind]) collect(round, path, watchers);
      this.#watches[kind].clear();
    }
    this.#callWatchers(round, (watcher, path) => watcher.onWatchEvent({ type: 'lost', path }));
  }

  paths(kind: WatchKind): Iterable<string> {
    return this.#watches[kind].keys();
  }

  #take(kind: WatchKind, path: string): Set<Watcher> | undefined {
    const watches = this.#watches[kind];
    const watchers = watches.get(path);
    if (watchers !== undefined) watches.delete(path);
    return watchers;
  }

  #callWatchers(round: Watches, callWatcher: (watcher: Watcher, path: string) => void): void {
    this.#rounds.add(round);
    try {
      for (const [path, watchers] of round) for (const watcher of watchers) callWatcher(watcher, path);
    } finally {
      this.#rounds.delete(round);
    }
  }

  #removeWatcher(kind: WatchKind, path: string, watcher: Watcher): boolean {
    const watchers = this.#watches[kind].get(path);
    if (watchers?.delete(watcher) !== true) return false;
    if (watchers.size > 0) return false;
    this.#watches[kind].delete(path);
    return true;
  }
}

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
    const unwanted = this.registry.remove(path, watcher);
    const conversation = this.#conversation();
    if (conversation === undefined) return;
    for (const kind of conversation.unwatch(path, watcher))
      if (!unwanted.includes(kind) && !this.registry.wants(path, kind)) unwanted.push(kind);
    // The removal is sent now, also behind a request that is still to set the watch: whatever is sent later finds it gone.
    for (const kind of unwanted) this.#removeAtServer(conversation, path, kind);
  }

  /** The server has set the watch that the call asked for. `found` tells whether the node is there. */
  set(call: Call, found: boolean): void {
    const { path, watcher, watchTable } = call;
    if (path === undefined || watcher === undefined || watchTable === undefined) return;
    const conversation = this.#conversation();
    // The watch that now exists is decided on below, so no removal of it is owed any more.
    conversation?.skippedRemovals.delete(watchTable, path);
    if (!call.unwatched) this.registry.add(kindOf(call, found), path, watcher);
    else if (conversation !== undefined && !call.isRemovedBehind && !this.registry.wants(path, watchTable)) {
      this.#removeAtServer(conversation, path, watchTable);
    }
  }

  /** The call failed, so it set no watch. A removal that was put off for its sake is sent now. */
  notSet({ path, watchTable }: Call): void {
    const conversation = this.#conversation();
    if (path === undefined || watchTable === undefined || conversation === undefined) return;
    if (!conversation.skippedRemovals.delete(watchTable, path) || this.registry.wants(path, watchTable)) return;
    this.#removeAtServer(conversation, path, watchTable);
  }

  #removeAtServer(conversation: Conversation, path: string, kind: RemovableWatch): void {
    // A removal at the server would also take the watch that another request under way is about to set.
    if (conversation.wantsWatchOn(path, kind)) conversation.skippedRemovals.add(kind, path);
    else {
      conversation.skippedRemovals.delete(kind, path);
      conversation.removeWatches(path, kind);
    }
  }
}

function kindOf(call: Call, found: boolean): WatchKind {
  // An `exists` on a missing node leaves a watch for its creation.
  if (call.watchTable === 'children') return 'children';
  return call.request.op === 'exists' && !found ? 'exists' : 'data';
}

/** Copies the watchers, so that watches set or removed during the calls change nothing in this round. */
function collect(round: Watches, path: string, watchers: Iterable<Watcher> = []): void {
  const collected = round.get(path) ?? new Set();
  for (const watcher of watchers) collected.add(watcher);
  if (collected.size > 0) round.set(path, collected);
}

/**
 * The requests that set all watches again on a new connection, each small enough for a server. Their paths carry the
 * chroot already, because the link adds it to single paths only.
 */
export function* watchFrames(registry: WatchRegistry, relativeZxid: bigint, chroot: string): Generator<SetWatches> {
  let paths = emptyPaths();
  let units = 0;
  for (const kind of ALL_WATCHES) {
    for (const path of registry.paths(kind)) {
      const serverPath = withChroot(chroot, path);
      if (units > 0 && units + serverPath.length > MAX_PATH_UNITS) {
        yield { op: 'setWatches', relativeZxid, ...paths };
        paths = emptyPaths();
        units = 0;
      }
      paths[kind].push(serverPath);
      units += serverPath.length;
    }
  }
  if (units > 0) yield { op: 'setWatches', relativeZxid, ...paths };
}

function emptyPaths(): Record<WatchKind, string[]> {
  return { data: [], exists: [], children: [] };
}
