import type { Transaction } from '../../../lib/session/simulator/tree/transaction.js';
import { compatible, type Contender, readName } from './queue-rules.js';

/** A contender's node, as the servers have committed it. */
export interface Entry extends Contender {
  readonly path: string;
  readonly queuePath: string;
  readonly czxid: bigint;
  readonly sessionId: bigint;
  readonly createdAtMs: number;
  /** Since when nobody stands in its way. */
  firstSinceMs: number | undefined;
}

export interface Removal {
  readonly entry: Entry;
  readonly zxid: bigint;
  readonly atMs: number;
  /** Its session ended, rather than that somebody deleted it. */
  readonly bySession: boolean;
  /** The transaction that removed the last one in its way; undefined: it never had one. */
  readonly unblockedBy: bigint | undefined;
}

export interface TruthListener {
  /** Just committed; nobody has been told. */
  onRemoved(removal: Removal): void;
}

/** The queues as the servers have committed them: what the promises are measured against. */
export class Truth {
  readonly #queues = new Map<string, Entry[]>();
  readonly #removals = new Map<string, Removal>();
  readonly #unblockedBy = new Map<string, bigint>();
  readonly #now: () => number;
  readonly #listener: TruthListener;

  constructor(now: () => number, listener: TruthListener) {
    this.#now = now;
    this.#listener = listener;
  }

  get paths(): string[] {
    return [...this.#queues.values()].flatMap((queue) => queue.map(({ path }) => path));
  }

  entry(path: string): Entry | undefined {
    return this.#queues.get(path.slice(0, path.lastIndexOf('/')))?.find((entry) => entry.path === path);
  }

  removal(path: string): Removal | undefined {
    return this.#removals.get(path);
  }

  get removals(): IterableIterator<Removal> {
    return this.#removals.values();
  }

  unblockedBy(path: string): bigint | undefined {
    return this.#unblockedBy.get(path);
  }

  queue(queuePath: string): readonly Entry[] {
    return this.#queues.get(queuePath) ?? [];
  }

  /** The nearest one ahead that must leave before this one may hold. */
  static nearestBlocker(queue: readonly Entry[], entry: Entry): Entry | undefined {
    let nearest: Entry | undefined;
    for (const ahead of queue) {
      if (ahead.sequence >= entry.sequence || compatible(ahead.mode, entry.mode)) continue;
      if (nearest === undefined || ahead.sequence > nearest.sequence) nearest = ahead;
    }
    return nearest;
  }

  commit(transaction: Transaction): void {
    for (const change of transaction.changes) {
      if (change.op === 'create') this.#add(change.path, transaction.zxid, change.ephemeralOwner);
      else if (change.op === 'delete') this.#remove(change.path, transaction.zxid, false);
      else if (change.op === 'closeSession') {
        const owned = [...this.#queues.values()].flat().filter(({ sessionId }) => sessionId === change.sessionId);
        for (const { path } of owned) this.#remove(path, transaction.zxid, true);
      }
    }
  }

  /** What of it would be removed by a transaction. */
  removedBy(transaction: Transaction): Entry[] {
    return transaction.changes.flatMap((change) => {
      if (change.op === 'delete') return this.entry(change.path) ?? [];
      if (change.op !== 'closeSession') return [];
      return [...this.#queues.values()].flat().filter(({ sessionId }) => sessionId === change.sessionId);
    });
  }

  #add(path: string, czxid: bigint, sessionId: bigint): void {
    const slash = path.lastIndexOf('/');
    const contender = readName(path.slice(slash + 1));
    if (contender === undefined) return;
    const queuePath = path.slice(0, slash);
    const queue = this.#queues.get(queuePath) ?? [];
    this.#queues.set(queuePath, queue);
    const createdAtMs = this.#now();
    const entry: Entry = { ...contender, path, queuePath, czxid, sessionId, createdAtMs, firstSinceMs: undefined };
    queue.push(entry);
    this.#update(queue, undefined);
  }

  #remove(path: string, zxid: bigint, bySession: boolean): void {
    const entry = this.entry(path);
    if (entry === undefined) return;
    const queue = this.#queues.get(entry.queuePath)!;
    queue.splice(queue.indexOf(entry), 1);
    const removal = { entry, zxid, bySession, atMs: this.#now(), unblockedBy: this.#unblockedBy.get(path) };
    this.#removals.set(path, removal);
    this.#update(queue, zxid);
    this.#listener.onRemoved(removal);
  }

  #update(queue: readonly Entry[], zxid: bigint | undefined): void {
    for (const entry of queue) {
      if (entry.firstSinceMs !== undefined || Truth.nearestBlocker(queue, entry) !== undefined) continue;
      entry.firstSinceMs = this.#now();
      if (zxid !== undefined) this.#unblockedBy.set(entry.path, zxid);
    }
  }
}
