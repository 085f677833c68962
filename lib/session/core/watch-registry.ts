import { SessionError } from '../errors.js';
import type { WatchEvent, Watcher } from '../requests.js';
import type { RemovableWatch, WatchKind } from './link.js';

type Watches = Map<string, Set<Watcher>>;

const ALL_WATCHES = ['data', 'exists', 'children', 'trees'] as const;

/** Who wants to be told what, by path. The server keeps one watch per path and kind, however many want it here. */
export class WatchRegistry {
  readonly #watches: Readonly<Record<WatchKind | 'trees', Watches>> = {
    data: new Map(),
    exists: new Map(),
    children: new Map(),
    trees: new Map(),
  };
  /** Who is still to be told of the event that is being told. */
  #telling: { readonly path: string; readonly watchers: Set<Watcher> } | undefined;

  add(kind: WatchKind | 'trees', path: string, watcher: Watcher): void {
    const watches = this.#watches[kind];
    const watchers = watches.get(path);
    if (watchers === undefined) watches.set(path, new Set([watcher]));
    else watchers.add(watcher);
  }

  /**
   * Servers before 3.9 keep one mode for a path, and lose one watch when the other is set or removed (ZOOKEEPER-4466).
   * @returns the refusal, when this kind cannot be set on this path now
   */
  conflict(kind: WatchKind | 'trees', path: string): SessionError | undefined {
    const others: readonly (WatchKind | 'trees')[] = kind === 'trees' ? ['data', 'exists', 'children'] : ['trees'];
    if (!others.some((other) => this.#watches[other].has(path))) return undefined;
    return watchConflict(path);
  }

  wants(path: string, table: RemovableWatch): boolean {
    if (table === 'data') return this.#watches.data.has(path) || this.#watches.exists.has(path);
    return this.#watches[table === 'any' ? 'trees' : 'children'].has(path);
  }

  /** @returns what the server need no longer watch for us */
  remove(path: string, watcher: Watcher): RemovableWatch[] {
    if (this.#telling?.path === path) this.#telling.watchers.delete(watcher);
    const gone = ALL_WATCHES.filter((kind) => this.#take(kind, path, watcher));
    const unwanted: RemovableWatch[] = [];
    if (gone.includes('trees')) unwanted.push('any');
    if (gone.includes('children')) unwanted.push('children');
    // The server keeps both kinds in one table.
    if ((gone.includes('data') || gone.includes('exists')) && !this.wants(path, 'data')) unwanted.push('data');
    return unwanted;
  }

  /** Tells those whom an event of the server concerns; one-shot watches are used up by it. */
  fire(event: WatchEvent): void {
    const told = new Set<Watcher>();
    if (event.type === 'children') this.#use('children', event.path, told);
    else {
      this.#use('data', event.path, told);
      this.#use('exists', event.path, told);
      if (event.type === 'deleted') this.#use('children', event.path, told);
      if (this.#watches.trees.size > 0) this.#collectTrees(event.path, told);
    }
    this.#telling = { path: event.path, watchers: told };
    for (const watcher of told) watcher.onWatchEvent(event);
    this.#telling = undefined;
  }

  /** The link was away: one-shot watches are set again and miss nothing, tree watches may have. */
  tellGap(): void {
    for (const [path, watchers] of this.#watches.trees) {
      for (const watcher of watchers) watcher.onWatchEvent({ type: 'gap', path });
    }
  }

  /** The session is over, and all its watches. */
  tellLost(): void {
    for (const kind of ALL_WATCHES) {
      const watches = [...this.#watches[kind]];
      this.#watches[kind].clear();
      for (const [path, watchers] of watches) {
        for (const watcher of watchers) watcher.onWatchEvent({ type: 'lost', path });
      }
    }
  }

  paths(kind: WatchKind | 'trees'): Iterable<string> {
    return this.#watches[kind].keys();
  }

  #use(kind: WatchKind, path: string, told: Set<Watcher>): void {
    const watchers = this.#watches[kind].get(path);
    if (watchers === undefined) return;
    this.#watches[kind].delete(path);
    for (const watcher of watchers) told.add(watcher);
  }

  #collectTrees(path: string, told: Set<Watcher>): void {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      this.#watches.trees.get(path.slice(0, end))?.forEach((watcher) => told.add(watcher));
    }
    this.#watches.trees.get('/')?.forEach((watcher) => told.add(watcher));
  }

  #take(kind: WatchKind | 'trees', path: string, watcher: Watcher): boolean {
    const watchers = this.#watches[kind].get(path);
    if (watchers?.delete(watcher) !== true) return false;
    if (watchers.size > 0) return false;
    this.#watches[kind].delete(path);
    return true;
  }
}

export function watchConflict(path: string): SessionError {
  return new SessionError('BAD_ARGUMENTS', `A tree watch and another watch cannot both stand on ${path}`, path);
}
