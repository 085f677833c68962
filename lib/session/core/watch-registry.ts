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
  /** Who is still to be told of what is being told, by the path they watch; who is taken back meanwhile is told no more. */
  readonly #tellings = new Set<Watches>();

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
    for (const telling of this.#tellings) telling.get(path)?.delete(watcher);
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
    const telling: Watches = new Map();
    if (event.type === 'children') this.#use('children', event.path, telling);
    else {
      this.#use('data', event.path, telling);
      this.#use('exists', event.path, telling);
      if (event.type === 'deleted') this.#use('children', event.path, telling);
      if (this.#watches.trees.size > 0) this.#collectTrees(event.path, telling);
    }
    const told = new Set<Watcher>();
    this.#tell(telling, (watcher) => {
      if (told.has(watcher)) return;
      told.add(watcher);
      watcher.onWatchEvent(event);
    });
  }

  /** The link was away: one-shot watches are set again and miss nothing, tree watches may have. */
  tellGap(): void {
    for (const [path, watchers] of this.#watches.trees) {
      for (const watcher of watchers) watcher.onWatchEvent({ type: 'gap', path });
    }
  }

  /** The session is over, and all its watches. */
  tellLost(): void {
    const telling: Watches = new Map();
    for (const kind of ALL_WATCHES) {
      for (const [path, watchers] of this.#watches[kind]) collect(telling, path, watchers);
      this.#watches[kind].clear();
    }
    this.#tell(telling, (watcher, path) => watcher.onWatchEvent({ type: 'lost', path }));
  }

  paths(kind: WatchKind | 'trees'): Iterable<string> {
    return this.#watches[kind].keys();
  }

  #use(kind: WatchKind, path: string, telling: Watches): void {
    const watchers = this.#watches[kind].get(path);
    if (watchers === undefined) return;
    this.#watches[kind].delete(path);
    collect(telling, path, watchers);
  }

  #collectTrees(path: string, telling: Watches): void {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const watched = path.slice(0, end);
      collect(telling, watched, this.#watches.trees.get(watched));
    }
    collect(telling, '/', this.#watches.trees.get('/'));
  }

  #tell(telling: Watches, tellOne: (watcher: Watcher, path: string) => void): void {
    this.#tellings.add(telling);
    try {
      for (const [path, watchers] of telling) for (const watcher of watchers) tellOne(watcher, path);
    } finally {
      this.#tellings.delete(telling);
    }
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

/** A copy: what is told does not change with what is watched from now on. */
function collect(telling: Watches, path: string, watchers: Iterable<Watcher> = []): void {
  const collected = telling.get(path) ?? new Set();
  for (const watcher of watchers) collected.add(watcher);
  if (collected.size > 0) telling.set(path, collected);
}
