import type { RemovableWatch } from '../../core/link.js';
import type { Acl, WatchEvent } from '../../requests.js';
import { allows, READ, type Identity } from './acl.js';
import { parentOf } from './paths.js';
import type { TreeObserver } from './tree-observer.js';

/** A connection. Its watches live and die with it. */
export interface WatchOwner {
  readonly identities: readonly Identity[];
  notify(event: WatchEvent): void;
}

const NOBODY: ReadonlySet<WatchOwner> = new Set();

/** Watches of one kind. A watch is gone once its event was sent. */
class Watches {
  readonly #ownersByPath = new Map<string, Set<WatchOwner>>();
  readonly #pathsByOwner = new Map<WatchOwner, Set<string>>();

  add(path: string, owner: WatchOwner): void {
    // A watcher that sets its watch again is told after the others.
    this.remove(path, owner);
    this.#ownersByPath.set(path, (this.#ownersByPath.get(path) ?? new Set()).add(owner));
    this.#pathsByOwner.set(owner, (this.#pathsByOwner.get(owner) ?? new Set()).add(path));
  }

  remove(path: string, owner: WatchOwner): boolean {
    const owners = this.#ownersByPath.get(path);
    if (owners?.delete(owner) !== true) return false;
    if (owners.size === 0) this.#ownersByPath.delete(path);
    const paths = this.#pathsByOwner.get(owner);
    paths?.delete(path);
    if (paths?.size === 0) this.#pathsByOwner.delete(owner);
    return true;
  }

  removeAllOf(owner: WatchOwner): void {
    for (const path of [...(this.#pathsByOwner.get(owner) ?? [])]) this.remove(path, owner);
  }

  get paths(): Iterable<readonly [WatchOwner, ReadonlySet<string>]> {
    return this.#pathsByOwner;
  }

  /**
   * Tells every owner that may read the node, except those in `told`, who know already. @returns the owners of the
   * watches
   */
  trigger(event: WatchEvent, acl: readonly Acl[], told = NOBODY): ReadonlySet<WatchOwner> {
    // The watches are removed first: an owner may set its watch again while it is being told.
    const owners = new Set(this.#ownersByPath.get(event.path));
    for (const owner of owners) this.remove(event.path, owner);
    for (const owner of owners) {
      // A connection that may not read the node loses its watch without a word.
      if (!told.has(owner) && allows(acl, READ, owner.identities)) owner.notify(event);
    }
    return owners;
  }
}

/** The watches of one server's connections, in the two tables that ZooKeeper has. */
export class WatchTable implements TreeObserver {
  readonly #data = new Watches();
  readonly #children = new Watches();

  /** Adds a watch of `get` or `exists`. */
  watchData(path: string, owner: WatchOwner): void {
    this.#data.add(path, owner);
  }

  watchChildren(path: string, owner: WatchOwner): void {
    this.#children.add(path, owner);
  }

  created(path: string, acl: readonly Acl[], parentAcl: readonly Acl[]): void {
    this.#data.trigger({ type: 'created', path }, acl);
    this.#children.trigger({ type: 'children', path: parentOf(path) }, parentAcl);
  }

  changed(path: string, acl: readonly Acl[]): void {
    this.#data.trigger({ type: 'changed', path }, acl);
  }

  deleted(path: string, acl: readonly Acl[], parentAcl: readonly Acl[]): void {
    // A connection that watches both the data and the children gets one event.
    const told = this.#data.trigger({ type: 'deleted', path }, acl);
    this.#children.trigger({ type: 'deleted', path }, acl, told);
    this.#children.trigger({ type: 'children', path: parentOf(path) }, parentAcl);
  }

  /** @returns false when there was no such watch */
  remove(path: string, kind: RemovableWatch, owner: WatchOwner): boolean {
    return (kind === 'data' ? this.#data : this.#children).remove(path, owner);
  }

  removeAllOf(owner: WatchOwner): void {
    this.#data.removeAllOf(owner);
    this.#children.removeAllOf(owner);
  }

  /** How many paths each connection watches, in total. A path in both tables counts once. */
  get count(): number {
    const pathsByOwner = new Map<WatchOwner, Set<string>>();
    for (const [owner, paths] of [...this.#data.paths, ...this.#children.paths]) {
      pathsByOwner.set(owner, new Set([...(pathsByOwner.get(owner) ?? []), ...paths]));
    }
    return [...pathsByOwner.values()].reduce((sum, paths) => sum + paths.size, 0);
  }
}
