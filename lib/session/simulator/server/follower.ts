import { Channel } from '../network/channel.js';
import type { Transaction } from '../tree/transaction.js';
import type { ToFollower, WriteRequest } from './messages.js';
import type { PeerLink } from './peer-link.js';
import type { Role } from './role.js';
import type { SimulatedServer } from './server.js';
import type { EnsembleSettings } from './settings.js';

/** Logs what its leader proposes, carries out what the leader commits, and serves its clients from its own state. */
export class Follower implements Role {
  readonly name = 'following';
  isServing = false;
  readonly #server: SimulatedServer;
  readonly #settings: EnsembleSettings;
  #link: PeerLink | undefined;
  /** Proposals that are not committed yet, in order. */
  #proposed: Transaction[] = [];
  /** Sessions that were active here since the leader last asked, with their time-outs. */
  #touched = new Map<bigint, number>();
  /** Commits and syncs that wait because this server is slow to carry them out. */
  readonly #committed: Channel<() => void>;
  /** How many commits and syncs are not carried out yet, because of the lag or because the server is frozen. */
  #stepsBehind = 0;
  #lastHeardAt: number;
  #isStopped = false;

  constructor(server: SimulatedServer, settings: EnsembleSettings) {
    this.#server = server;
    this.#settings = settings;
    this.#lastHeardAt = server.host.clock.now();
    const { host } = server;
    this.#committed = new Channel(
      server.timeline,
      () => server.applyLagMs,
      (steps) => {
        for (const step of steps) host.deliver(step);
      },
    );
  }

  follow(link: PeerLink): void {
    this.#link = link;
    this.#server.role = this;
    this.#watchSilence();
  }

  onMessages(messages: readonly ToFollower[]): void {
    for (const message of messages) {
      // A message may have ended this role, and the rest is for a follower that is no more.
      if (this.#isStopped) return;
      this.#lastHeardAt = this.#server.host.clock.now();
      this.#onMessage(message);
    }
  }

  submit(request: WriteRequest): void {
    this.#link?.toLeader.send({ kind: 'write', request });
  }

  sync(requestId: number): void {
    this.#link?.toLeader.send({ kind: 'sync', requestId });
  }

  revalidate(requestId: number, sessionId: bigint, timeoutMs: number): void {
    this.#link?.toLeader.send({ kind: 'revalidate', requestId, sessionId, timeoutMs });
  }

  touch(sessionId: bigint, timeoutMs: number): void {
    this.#touched.set(sessionId, timeoutMs);
  }

  /** Only the leader knows whether a session has moved, so a follower lets every read pass. */
  check(): number {
    return 0;
  }

  onSessionClosed(sessionId: bigint): void {
    this.#touched.delete(sessionId);
  }

  stop(): void {
    this.#isStopped = true;
    this.isServing = false;
    this.#committed.cut();
    if (this.#link?.isOpen === true) this.#link.closeAtFollower();
  }

  #onMessage(message: ToFollower): void {
    const link = this.#link;
    switch (message.kind) {
      case 'newLeader':
        // A leader sends its whole tree: snapshots and differences are not simulated.
        this.#server.tree = message.tree;
        this.#server.log = [];
        this.#server.currentEpoch = message.epoch;
        link?.toLeader.send({ kind: 'following' });
        for (const transaction of message.proposals) this.#propose(transaction);
        return;
      case 'upToDate':
        this.isServing = true;
        return;
      case 'proposal':
        this.#propose(message.transaction);
        return;
      case 'commit': {
        const transaction = this.#proposed.shift();
        if (transaction?.zxid !== message.zxid)
          throw new Error('The simulated leader commits what it has not proposed.');
        this.#inOrder(() => this.#server.carryOut(transaction));
        return;
      }
      case 'ping':
        // The answer to the leader's ping is the only way in which the leader learns that sessions here are alive.
        link?.toLeader.send({ kind: 'touched', sessions: this.#touched });
        this.#touched = new Map();
        return;
      case 'synced':
        this.#inOrder(() => this.#server.synced(message.requestId));
        return;
      case 'revalidated':
        this.#server.revalidated(message.requestId, message.valid);
        return;
      case 'closed':
        this.#server.look();
    }
  }

  #propose(transaction: Transaction): void {
    this.#proposed.push(transaction);
    this.#server.append(transaction, () => {
      if (!this.#isStopped) this.#link?.toLeader.send({ kind: 'ack', zxid: transaction.zxid });
    });
  }

  #inOrder(step: () => void): void {
    // A step may run at once only when no earlier step waits: commits keep their order.
    if (this.#server.applyLagMs === 0 && this.#stepsBehind === 0) {
      step();
      return;
    }
    this.#stepsBehind += 1;
    this.#committed.send(() => {
      this.#stepsBehind -= 1;
      if (!this.#isStopped) step();
    });
  }

  #watchSilence(): void {
    // A follower that is cut off goes on serving until this limit, because it cannot know.
    const limitTicks = this.isServing ? this.#settings.syncLimitTicks : this.#settings.initLimitTicks;
    const leftMs = this.#lastHeardAt + limitTicks * this.#settings.tickMs - this.#server.host.clock.now();
    if (leftMs <= 0) {
      this.#server.look();
      return;
    }
    this.#server.host.setTimer(leftMs, () => {
      if (!this.#isStopped) this.#watchSilence();
    });
  }
}
