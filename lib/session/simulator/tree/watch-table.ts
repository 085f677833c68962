import type { RemovableWatch } from '../../core/link.js';
import type { Acl, WatchEvent } from '../../requests.js';
import { allows, READ, type Identity } from './acl.js';
import { parentOf } from './paths.js';
import type { TreeObserver } from './tree-observer.js';

/** A connection: its watches live and die with it. */
export interface WatchOwner {
  readonly identities: readonly Identity[];
  notify(event: WatchEvent): void;
}

/** `once`: gone when told. `tree`: stays, and covers all that is below. */
type WatchMode = 'once' | 'tree';

const NOBODY: ReadonlySet<WatchOwner> = new Set();

/** Watches of one kind. An owner has one on a path at most: setting another changes its mode. */
class Watches {
  readonly #modesByPath = new Map<string, Map<WatchOwner, WatchMode>>();
  readonly #pathsByOwner = new Map<WatchOwner, Set<string>>();
  #trees = 0;

  add(path: string, owner: WatchOwner, mode: WatchMode): void {
    this.remove(path, owner);
    this.#modesByPath.set(path, (this.#modesByPath.get(path) ?? new Map<WatchOwner, WatchMode>()).set(owner, mode));
    this.#pathsByOwner.set(owner, (this.#pathsByOwner.get(owner) ?? new Set()).add(path));
    if (mode === 'tree') this.#trees += 1;
  }

  remove(path: string, owner: WatchOwner): boolean {
    const modes = this.#modesByPath.get(path);
    const mode = modes?.get(owner);
    if (modes === undefined || mode === undefined) return false;
    modes.delete(owner);
    if (modes.size === 0) this.#modesByPath.delete(path);
    const paths = this.#pathsByOwner.get(owner);
    paths?.delete(path);
    if (paths?.size === 0) this.#pathsByOwner.delete(owner);
    if (mode === 'tree') this.#trees -= 1;
    return true;
  }

  removeAllOf(owner: WatchOwner): void {
    for (const path of [...(this.#pathsByOwner.get(owner) ?? [])]) this.remove(path, owner);
  }

  get paths(): Iterable<readonly [WatchOwner, ReadonlySet<string>]> {
    return this.#pathsByOwner;
  }

  /** Tells everybody who may read the node, but those in `told`, who know. Says whose watches they were. */
  trigger(event: WatchEvent, acl: readonly Acl[], told = NOBODY): ReadonlySet<WatchOwner> {
    const owners = this.#take(event);
    for (const owner of owners) {
      if (!told.has(owner) && allows(acl, READ, owner.identities)) owner.notify(event);
    }
    return owners;
  }

  #take({ type, path }: WatchEvent): ReadonlySet<WatchOwner> {
    const hasTrees = this.#trees > 0 && type !== 'children';
    const modes = this.#modesByPath.get(path);
    if (modes === undefined && !hasTrees) return NOBODY;
    const owners = new Set<WatchOwner>();
    for (const [owner, mode] of [...(modes ?? [])]) {
      if (mode === 'once') this.remove(path, owner);
      if (mode === 'once' || hasTrees) owners.add(owner);
    }
    for (let over = path; hasTrees && over !== '/';) {
      over = parentOf(over);
      for (const [owner, mode] of this.#modesByPath.get(over) ?? []) {
        if (mode === 'tree') owners.add(owner);
      }
    }
    return owners;
  }
}

/** The watches of the connections of one server, in the two tables that ZooKeeper has. A tree watch is in both (3.8). */
export class WatchTable implements TreeObserver {
  readonly #data = new Watches();
  readonly #children = new Watches();

  /** By `get` and `exists`. */
  watchData(path: string, owner: WatchOwner): void {
    this.#data.add(path, owner, 'once');
  }

  watchChildren(path: string, owner: WatchOwner): void {
    this.#children.add(path, owner, 'once');
  }

  watchTree(path: string, owner: WatchOwner): void {
    this.#data.add(path, owner, 'tree');
    this.#children.add(path, owner, 'tree');
  }

  created(path: string, acl: readonly Acl[], parentAcl: readonly Acl[]): void {
    this.#data.trigger({ type: 'created', path }, acl);
    this.#children.trigger({ type: 'children', path: parentOf(path) }, parentAcl);
  }

  changed(path: string, acl: readonly Acl[]): void {
    this.#data.trigger({ type: 'changed', path }, acl);
  }

  deleted(path: string, acl: readonly Acl[], parentAcl: readonly Acl[]): void {
    // One event for a connection that watches both the data and the children.
    const told = this.#data.trigger({ type: 'deleted', path }, acl);
    this.#children.trigger({ type: 'deleted', path }, acl, told);
    this.#children.trigger({ type: 'children', path: parentOf(path) }, parentAcl);
  }

  /** @returns false when there was none. */
  remove(path: string, kind: RemovableWatch, owner: WatchOwner): boolean {
    const tables = { children: [this.#children], data: [this.#data], any: [this.#data, this.#children] };
    return tables[kind].map((watches) => watches.remove(path, owner)).includes(true);
  }

  removeAllOf(owner: WatchOwner): void {
    this.#data.removeAllOf(owner);
    this.#children.removeAllOf(owner);
  }

  /** Paths watched, for each connection: the same in both tables counts once. */
  get count(): number {
    const pathsByOwner = new Map<WatchOwner, Set<string>>();
    for (const [owner, paths] of [...this.#data.paths, ...this.#children.paths]) {
      pathsByOwner.set(owner, new Set([...(pathsByOwner.get(owner) ?? []), ...paths]));
    }
    return [...pathsByOwner.values()].reduce((sum, paths) => sum + paths.size, 0);
  }
}
