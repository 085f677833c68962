import type { AppProcess } from './app-process.js';
import type { SimulatedWorld } from './simulated-world.js';
import type { Latency } from '../../../lib/session/simulator/network/latency.js';
import type { Transaction } from '../../../lib/session/simulator/tree/transaction.js';
import type { FullQueues } from './full-queues.js';
import type { GrantBook } from './grant-book.js';
import type { Journal } from './journal.js';
import type { Judge } from './judge.js';
import type { RecordTruth } from './record-truth.js';
import type { Scenario } from './scenario.js';
import { type Entry, Truth } from './truth.js';
import { releaseMark } from '../../../lib/queue/node-name.js';

/** What of a schedule it tells. */
interface Parts {
  readonly scenario: Scenario;
  readonly world: SimulatedWorld;
  readonly book: GrantBook;
  readonly recordTruth: RecordTruth;
  readonly fullQueues: FullQueues;
  readonly judge: Judge;
  readonly journal: Journal;
  readonly apps: readonly AppProcess[];
}

/**
 * Listens to the servers carrying out what is committed: the first one to do so makes it true. Also counts whom a
 * removal is told to, over all servers.
 */
export class CommitTap {
  readonly #scenario: Scenario;
  readonly #world: SimulatedWorld;
  readonly #book: GrantBook;
  readonly #fullQueues: FullQueues;
  readonly #records: RecordTruth;
  readonly #judge: Judge;
  readonly #journal: Journal;
  readonly #apps: readonly AppProcess[];
  readonly #seen = new Set<bigint>();
  readonly #tellings = new Map<
    bigint,
    { readonly allowed: number; told: number; readonly removed: readonly Entry[] }
  >();
  /** Keys that somebody watches for people: they are told of everything. */
  readonly observedKeys = new Set<string>();

  constructor({ scenario, world, book, recordTruth, fullQueues, judge, journal, apps }: Parts) {
    this.#scenario = scenario;
    this.#world = world;
    this.#book = book;
    this.#records = recordTruth;
    this.#fullQueues = fullQueues;
    this.#judge = judge;
    this.#journal = journal;
    this.#apps = apps;
    const { traffic } = world.ensemble;
    for (const server of world.ensemble.servers) {
      const carryOut = server.carryOut.bind(server);
      server.carryOut = (transaction) => {
        this.#onCarriedOut(transaction);
        const told: bigint[] = [];
        traffic.onTold = (sessionId) => told.push(sessionId);
        carryOut(transaction);
        traffic.onTold = () => undefined;
        this.#onTold(transaction.zxid, told);
      };
    }
  }

  #onCarriedOut(transaction: Transaction): void {
    const { zxid } = transaction;
    if (this.#seen.has(zxid)) return;
    this.#seen.add(zxid);
    const removed = this.#book.truth.removedBy(transaction);
    if (removed.length > 0) this.#expectTelling(transaction, removed);
    this.#records.committed(transaction);
    this.#book.truth.commit(transaction);
    this.#fullQueues.committed(removed);
    for (const change of transaction.changes) {
      if (change.op === 'create') this.#fullQueues.created(change.path);
      if (change.op === 'set') this.#book.surgery.written(change.path, change.data);
      const subject = 'path' in change ? change.path : change.sessionId.toString(16);
      this.#journal.note(this.#world.now(), `commit ${zxid.toString(16)} ${change.op} ${subject}`);
    }
  }

  /** Links that hang are told twice, so herds are counted only where there are none. */
  #expectTelling(transaction: Transaction, removed: readonly Entry[]): void {
    const { profile } = this.#scenario;
    if (profile !== 'calm' && profile !== 'processes' && profile !== 'administration') return;
    const tells = (gone: Entry): number => this.#countConcerned(gone) + (isMarked(transaction, gone) ? 1 : 0);
    const allowed = removed.reduce((sum, entry) => sum + tells(entry), this.#countNewcomers(transaction));
    this.#tellings.set(transaction.zxid, { allowed, told: 0, removed });
  }

  /** Those of other sessions that the end of a node may let in, and an upgrader that waits for this reader. */
  #countConcerned(gone: Entry): number {
    const queue = this.#book.truth.queue(gone.queuePath);
    let count = 0;
    for (const entry of queue) {
      if (entry.sessionId === gone.sessionId) continue;
      const isWaiting = Truth.nearestBlocker(queue, entry) === gone;
      const isIntentBehind = gone.mode === 'read' && entry.mode === 'write' && entry.sequence > gone.sequence;
      const readsIntent = gone.mode === 'write' && entry.mode === 'read' && entry.sequence < gone.sequence;
      if (isWaiting || isIntentBehind || readsIntent) count += 1;
    }
    return count;
  }

  /**
   * The processes that watch the node of a key whose record is changed here, as they have used the key without one: they take that watch
   * back when they see the record in the answer to their create, and until then they are told.
   */
  #countNewcomers({ changes }: Transaction): number {
    const { clientLatencyMs, peerLatencyMs, logMs } = this.#scenario;
    // The create is carried out at their server, too, and answered; what takes the watch back goes to that server.
    const answeredMs = 2 * most(clientLatencyMs) + most(peerLatencyMs) + most(logMs);
    const changed = changes.flatMap((change) => (change.op === 'set' ? this.#book.truth.queue(change.path) : []));
    const newcomers = changed.filter(({ sessionId, createdAtMs }) => {
      const app = this.#apps.find(({ session }) => session.identity?.id === sessionId);
      if (app?.isRunning !== true) return true;
      return this.#world.now() - Math.max(createdAtMs, app.lastResumedAtMs) <= answeredMs;
    });
    return new Set(newcomers.map(({ sessionId }) => sessionId)).size;
  }

  #isObserved(removed: readonly Entry[]): boolean {
    return removed.some(({ queuePath }) => this.observedKeys.has(queuePath));
  }

  #onTold(zxid: bigint, told: readonly bigint[]): void {
    const telling = this.#tellings.get(zxid);
    if (telling === undefined) return;
    // The session of the node may hear of its end, and that is one event however many wait there.
    telling.told += told.filter((sessionId) => !telling.removed.some((entry) => entry.sessionId === sessionId)).length;
    // Who begins to observe a key at a server that is behind is told of what another server has carried out before.
    if (telling.told <= telling.allowed || this.#isObserved(telling.removed)) return;
    const what = telling.removed.map(({ path }) => path).join(', ');
    this.#judge.blame(
      'no herd',
      `the end of ${what} was told ${telling.told} times, ${telling.allowed} could concern somebody`,
    );
    this.#tellings.delete(zxid);
  }
}

/** Whether the transaction tells as well that the holder released the lock, of which one contender may be told. */
function isMarked({ changes }: Transaction, { path }: Entry): boolean {
  const mark = releaseMark(path);
  return changes.some((change) => change.op === 'create' && change.path === mark);
}

function most(latency: Latency): number {
  return typeof latency === 'number' ? latency : latency[1];
}
