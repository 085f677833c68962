import { Channel } from '../network/channel.js';
import { drawLatency } from '../network/latency.js';
import { Host } from '../time/host.js';
import type { SeededRandom } from '../time/random.js';
import type { Timeline } from '../time/timeline.js';
import type { ChangeResult, Transaction } from '../tree/transaction.js';
import { Tree } from '../tree/tree.js';
import { WatchTable } from '../tree/watch-table.js';
import type { ClientConnection } from './client-connection.js';
import { LOOKING, type Role } from './role.js';
import type { EnsembleSettings } from './settings.js';
import type { Traffic } from './traffic.js';

/** Called when a write of this server's clients has been carried out here, or a sync has come back. */
type Awaiting = (transaction: Transaction | undefined, results: readonly ChangeResult[]) => void;

/** The surroundings that a server needs. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly settings: EnsembleSettings;
  readonly traffic: Traffic;
  readonly random: SeededRandom;
  /** A server has lost its leader, or is up again. */
  onLooking(): void;
}

/** One server: its disk, its memory, and its part in the ensemble. */
export class SimulatedServer {
  host: Host;
  role: Role = LOOKING;
  /** The committed state as far as this server knows it. It survives a restart. */
  tree = Tree.fresh();
  /** Logged proposals that are not known to be committed. They survive a restart. */
  log: Transaction[] = [];
  acceptedEpoch = 0;
  currentEpoch = 0;
  watches = new WatchTable();
  /**
   * How long the server takes to carry out what is committed, so that its reads are stale. It has no effect while it
   * leads.
   */
  applyLagMs = 0;
  /** The largest time-out that this server grants; undefined for the usual number of ticks. */
  maxSessionTimeoutMs: number | undefined;
  readonly connections = new Set<ClientConnection>();
  readonly #surroundings: Surroundings;
  readonly #awaiting = new Map<number, Awaiting>();
  readonly #attaching = new Map<number, ClientConnection>();
  #disk: Channel<() => void>;
  #lastRequestId = 0;
  #lastSessionId = 0n;

  constructor(
    readonly id: number,
    surroundings: Surroundings,
  ) {
    this.#surroundings = surroundings;
    this.host = new Host(surroundings.timeline, false);
    this.#disk = this.#newDisk();
  }

  get settings(): EnsembleSettings {
    return this.#surroundings.settings;
  }

  get timeline(): Timeline {
    return this.#surroundings.timeline;
  }

  get traffic(): Traffic {
    return this.#surroundings.traffic;
  }

  get chance(): SeededRandom | undefined {
    return this.#surroundings.timeline.chance;
  }

  /** The newest transaction that this server would bring to an election. */
  get lastLoggedZxid(): bigint {
    return this.log.at(-1)?.zxid ?? this.tree.lastZxid;
  }

  newSessionId(): bigint {
    // As in ZooKeeper: the server's id is the top byte and the time follows, so that ids of two servers never clash.
    const startOfThisMillisecond =
      (BigInt(this.id) << 56n) | ((BigInt(this.timeline.wallNow()) & 0xff_ffff_ffffn) << 16n);
    const next = this.#lastSessionId + 1n;
    this.#lastSessionId = next > startOfThisMillisecond ? next : startOfThisMillisecond;
    return this.#lastSessionId;
  }

  await(awaiting: Awaiting): number {
    this.#lastRequestId += 1;
    this.#awaiting.set(this.#lastRequestId, awaiting);
    return this.#lastRequestId;
  }

  awaitRevalidation(connection: ClientConnection): number {
    this.#lastRequestId += 1;
    this.#attaching.set(this.#lastRequestId, connection);
    return this.#lastRequestId;
  }

  synced(requestId: number): void {
    this.#settle(requestId, undefined, []);
  }

  revalidated(requestId: number, valid: boolean): void {
    const connection = this.#attaching.get(requestId);
    this.#attaching.delete(requestId);
    connection?.onRevalidated(valid);
  }

  /** Writes a proposal to the log, behind those before it. */
  append(transaction: Transaction, onLogged: () => void): void {
    const { host } = this;
    const write = (): void => {
      // A majority may have committed it before this slow disk wrote it.
      if (transaction.zxid > this.tree.lastZxid) this.log.push(transaction);
      onLogged();
    };
    if (this.settings.logMs === 0) write();
    else this.#disk.send(() => host.deliver(write));
  }

  /**
   * Carries out a committed transaction: watch events come first, then the reply if one of this server's clients asked.
   */
  carryOut(transaction: Transaction): void {
    const results = this.tree.apply(transaction, this.watches);
    while (this.log[0] !== undefined && this.log[0].zxid <= transaction.zxid) this.log.shift();
    if (transaction.origin?.serverId === this.id) this.#settle(transaction.origin.requestId, transaction, results);
    for (const change of transaction.changes) {
      if (change.op === 'createSession') this.role.touch(change.sessionId, change.timeoutMs);
      if (change.op !== 'closeSession') continue;
      this.role.onSessionClosed(change.sessionId);
      this.closeConnectionsOf(change.sessionId, 'the session has ended');
    }
  }

  forget(connection: ClientConnection): void {
    this.connections.delete(connection);
    this.watches.removeAllOf(connection);
  }

  closeConnectionsOf(sessionId: bigint, cause: string, except?: ClientConnection): void {
    for (const connection of [...this.connections]) {
      if (connection.sessionId === sessionId && connection !== except) connection.close(cause);
    }
  }

  /** Gives up this server's part in the ensemble, and with it its clients. */
  look(): void {
    this.#dropEverything('the server has lost its leader');
    this.#surroundings.onLooking();
  }

  kill(): void {
    this.#dropEverything('the server has gone');
    this.host.kill();
    this.#disk.cut();
  }

  /** Starts the server again with what is on its disk. */
  start(): void {
    if (this.host.alive) return;
    this.host = new Host(this.timeline, false);
    this.#disk = this.#newDisk();
    this.#surroundings.onLooking();
  }

  wipe(): void {
    this.tree = Tree.fresh();
    this.log = [];
    this.acceptedEpoch = 0;
    this.currentEpoch = 0;
  }

  #dropEverything(cause: string): void {
    const { role } = this;
    this.role = LOOKING;
    // The role is replaced first, so that whatever runs now sees a server that does not serve.
    role.stop();
    for (const connection of [...this.connections]) connection.close(cause);
    this.#awaiting.clear();
    this.#attaching.clear();
    this.watches = new WatchTable();
  }

  #settle(requestId: number, transaction: Transaction | undefined, results: readonly ChangeResult[]): void {
    const awaiting = this.#awaiting.get(requestId);
    this.#awaiting.delete(requestId);
    awaiting?.(transaction, results);
  }

  #newDisk(): Channel<() => void> {
    const { timeline, settings, random } = this.#surroundings;
    return new Channel(
      timeline,
      () => drawLatency(settings.logMs, random),
      (writes) => {
        for (const write of writes) write();
      },
    );
  }
}
