import { anyone } from './acl.js';
import { nameOf, parentOf } from './paths.js';
import type { Change, ChangeResult, Transaction } from './transaction.js';
import type { TreeObserver } from './tree-observer.js';
import { CONTAINER_OWNER, isEphemeral, statOf, type Znode } from './znode.js';

const NO_DATA = new Uint8Array();

function node(zxid: bigint, wallMs: number, settings: Pick<Znode, 'data' | 'acl' | 'ephemeralOwner'>): Znode {
  return {
    ...settings,
    czxid: zxid,
    mzxid: zxid,
    pzxid: zxid,
    ctime: wallMs,
    mtime: wallMs,
    version: 0,
    creates: 0,
    children: new Set(),
  };
}

/**
 * Everything that the servers replicate: nodes and sessions, as of `lastZxid`. It carries out what has been decided.
 */
export class Tree {
  lastZxid = 0n;
  readonly nodes = new Map<string, Znode>();
  /** The granted time-out of each session. */
  readonly sessions = new Map<bigint, number>();
  readonly #ephemerals = new Map<bigint, Set<string>>();
  readonly containers = new Set<string>();

  static fresh(): Tree {
    const tree = new Tree();
    for (const path of ['/', '/zookeeper', '/zookeeper/config', '/zookeeper/quota']) {
      tree.nodes.set(path, node(0n, 0, { data: NO_DATA, acl: anyone(), ephemeralOwner: 0n }));
      if (path !== '/') tree.nodes.get(parentOf(path))?.children.add(nameOf(path));
    }
    return tree;
  }

  copy(): Tree {
    const copy = new Tree();
    copy.lastZxid = this.lastZxid;
    for (const [path, original] of this.nodes) {
      // Changes are made in place, so a shared node would change in both trees.
      copy.nodes.set(path, { ...original, children: new Set(original.children) });
    }
    for (const [sessionId, timeoutMs] of this.sessions) copy.sessions.set(sessionId, timeoutMs);
    for (const [sessionId, paths] of this.#ephemerals) copy.#ephemerals.set(sessionId, new Set(paths));
    for (const path of this.containers) copy.containers.add(path);
    return copy;
  }

  ephemeralsOf(sessionId: bigint): string[] {
    return [...(this.#ephemerals.get(sessionId) ?? [])];
  }

  /** @returns one result for each change */
  apply(transaction: Transaction, observer?: TreeObserver): ChangeResult[] {
    this.lastZxid = transaction.zxid;
    return transaction.changes.map((change) =>
      this.applyChange(change, transaction.zxid, transaction.wallMs, observer),
    );
  }

  applyChange(change: Change, zxid: bigint, wallMs: number, observer?: TreeObserver): ChangeResult {
    switch (change.op) {
      case 'create': {
        const created = node(zxid, wallMs, change);
        this.#addChild(change.path, zxid);
        this.nodes.set(change.path, created);
        this.index(change.path, created);
        observer?.created(change.path, change.acl, this.existing(parentOf(change.path)).acl);
        return { op: 'create', path: change.path, stat: statOf(created) };
      }
      case 'delete':
        this.#delete(change.path, zxid, observer);
        return { op: 'delete' };
      case 'set': {
        const changed = this.existing(change.path);
        changed.data = change.data;
        // A server keeps versions as int32, which wrap around.
        changed.version = (changed.version + 1) | 0;
        changed.mzxid = zxid;
        changed.mtime = wallMs;
        observer?.changed(change.path, changed.acl);
        return { op: 'set', stat: statOf(changed) };
      }
      case 'check':
        return { op: 'check' };
      case 'createSession':
        this.sessions.set(change.sessionId, change.timeoutMs);
        return undefined;
      case 'closeSession':
        // The session's ephemeral nodes go in the same transaction.
        for (const path of this.ephemeralsOf(change.sessionId)) this.#delete(path, zxid, observer);
        this.sessions.delete(change.sessionId);
        return undefined;
    }
  }

  existing(path: string): Znode {
    const found = this.nodes.get(path);
    if (found === undefined) throw new Error(`The simulator decided on a change to a node that is not there: ${path}`);
    return found;
  }

  /** Adds a new node to the lists of ephemerals and containers. */
  index(path: string, added: Znode): void {
    if (added.ephemeralOwner === CONTAINER_OWNER) this.containers.add(path);
    if (!isEphemeral(added)) return;
    const owned = this.#ephemerals.get(added.ephemeralOwner) ?? new Set();
    this.#ephemerals.set(added.ephemeralOwner, owned.add(path));
  }

  unindex(path: string, removed: Znode): void {
    this.containers.delete(path);
    const owned = this.#ephemerals.get(removed.ephemeralOwner);
    owned?.delete(path);
    if (owned?.size === 0) this.#ephemerals.delete(removed.ephemeralOwner);
  }

  #addChild(path: string, zxid: bigint): void {
    const parent = this.existing(parentOf(path));
    parent.children.add(nameOf(path));
    // At its ceiling the counter would overflow to a smaller number. ZooKeeper 3.8 leaves it alone then, so it sticks.
    const creates = (parent.creates + 1) | 0;
    if (creates <= parent.creates) return;
    parent.creates = creates;
    parent.pzxid = zxid;
  }

  #delete(path: string, zxid: bigint, observer: TreeObserver | undefined): void {
    const removed = this.existing(path);
    const parent = this.existing(parentOf(path));
    parent.children.delete(nameOf(path));
    // A delete moves pzxid but not the counter: numbers are never given twice.
    parent.pzxid = zxid;
    this.nodes.delete(path);
    this.unindex(path, removed);
    observer?.deleted(path, removed.acl, parent.acl);
  }
}
