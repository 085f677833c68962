import { PlannedLoss, type Direction, type Op } from './network/client-network.js';
import type { Latency } from './network/latency.js';
import { clientEndpoint, serverEndpoint } from './network/partition.js';
import type { Ensemble } from './server/ensemble.js';
import { Leader } from './server/leader.js';
import type { PeerDirection } from './server/peer-link.js';
import type { SimulatedServer } from './server/server.js';
import type { SimulatedProcess } from './simulated-process.js';

const BOTH_DIRECTIONS: readonly Direction[] = ['to-server', 'to-client'];

/** All faults by name. Each takes effect at once; no method waits. */
export class Faults {
  readonly #ensemble: Ensemble;
  #stoppedForQuorum: number[] = [];

  constructor(ensemble: Ensemble) {
    this.#ensemble = ensemble;
  }

  /** Resets the client's connection once. The client may come back at once. */
  suspend(client: SimulatedProcess): void {
    client.network.cut();
  }

  /** Resets the client's connection and refuses new ones until `accept`. */
  refuse(client: SimulatedProcess): void {
    client.network.refusesConnections = true;
    client.network.cut();
  }

  accept(client: SimulatedProcess): void {
    client.network.refusesConnections = false;
  }

  /**
   * Holds back all messages in this direction (by default in both) without telling either end. `pass` ends it; nothing
   * is lost.
   */
  blackHole(client: SimulatedProcess, direction?: Direction): void {
    client.network.hold(direction === undefined ? BOTH_DIRECTIONS : [direction]);
  }

  pass(client: SimulatedProcess): void {
    client.network.release();
  }

  /** Lets the next request of this kind be carried out, and loses its reply and the connection. */
  loseReplyOfNext(client: SimulatedProcess, op: Op): PlannedLoss {
    return client.network.planLoss(new PlannedLoss('lose-reply', op));
  }

  /** Breaks the connection before the next request of this kind reaches the server. */
  loseNextRequest(client: SimulatedProcess, op: Op): PlannedLoss {
    return client.network.planLoss(new PlannedLoss('lose-request', op));
  }

  /** Delays watch events by this much. Later messages of the server wait behind them, so the order stays. */
  delayWatches(client: SimulatedProcess, delayMs: number): void {
    client.network.watchDelayMs = delayMs;
  }

  /** Sets the latency of this client alone; undefined stands for the ensemble's own. */
  setLatency(client: SimulatedProcess, latencyMs: Latency | undefined): void {
    client.network.latencyMs = latencyMs;
  }

  /** Lets the leader end the session, as if the session had been silent for its time-out. */
  expire(sessionId: bigint): void {
    this.#leader('expire a session').expire(sessionId);
  }

  /** Removes the containers that had children and have none now, without waiting for the hourly check. */
  reapContainers(): void {
    this.#leader('reap containers').reapContainers();
  }

  /** Sets the number of the next sequential child of `path` to `next`, an int32. */
  jumpSequence(path: string, next: number): void {
    // The change is no transaction, so it is made on every server.
    this.#leader('jump a sequence').jumpSequence(path, next);
    for (const server of this.#ensemble.servers) {
      const node = server.tree.nodes.get(path);
      if (node !== undefined) node.creates = next;
    }
  }

  /** Lets servers make and log proposals, but commit none until `releaseCommits`. */
  holdCommits(): void {
    this.#ensemble.holdCommits(true);
  }

  releaseCommits(): void {
    this.#ensemble.holdCommits(false);
  }

  /**
   * Delays this server in carrying out what is committed, so that its reads are stale. It has no effect while the
   * server leads.
   */
  lag(serverId: number, applyLagMs: number): void {
    this.#ensemble.server(serverId).applyLagMs = applyLagMs;
  }

  /** SIGKILL: clients and other servers see their connections close, and new connections are refused. */
  killServer(serverId: number): void {
    this.#ensemble.server(serverId).kill();
  }

  startServer(serverId: number): void {
    this.#ensemble.server(serverId).start();
  }

  restartServer(serverId: number): void {
    this.killServer(serverId);
    this.startServer(serverId);
  }

  /** SIGSTOP: connections stay, the operating system even accepts new ones, and nothing is answered. */
  freezeServer(serverId: number): void {
    this.#ensemble.server(serverId).host.pause();
  }

  thawServer(serverId: number): void {
    this.#ensemble.server(serverId).host.resume();
    this.#ensemble.considerElection();
  }

  /**
   * Holds back all messages in this direction between a follower and its leader until `flow`. The other direction goes
   * on.
   */
  stall(followerId: number, direction: PeerDirection): void {
    this.#ensemble.stall(followerId, direction, true);
  }

  flow(followerId: number): void {
    for (const direction of ['to-leader', 'to-follower'] as const) this.#ensemble.stall(followerId, direction, false);
  }

  /**
   * Limits the time-outs that the server grants, as a restart with another `maxSessionTimeout` does; undefined ends the
   * limit.
   */
  limitSessions(serverId: number, maxSessionTimeoutMs: number | undefined): void {
    this.#ensemble.server(serverId).maxSessionTimeoutMs = maxSessionTimeoutMs;
  }

  /**
   * Cuts a server off from the other servers, together with these clients (by default with the clients connected to
   * it).
   */
  isolate(serverId: number, clients?: readonly SimulatedProcess[]): void {
    const connected = [...this.#ensemble.server(serverId).connections].map(({ clientName }) =>
      clientEndpoint(clientName),
    );
    const endpoints = clients?.map((client) => client.endpoint) ?? connected;
    this.#ensemble.partition.separate([serverEndpoint(serverId), ...endpoints]);
  }

  /** Ends every isolation. Messages that were sent meanwhile arrive where the connection still stands. */
  heal(): void {
    this.#ensemble.partition.heal();
    this.#ensemble.considerElection();
  }

  /**
   * Kills servers, followers first, until no majority is left. Sessions survive, because nobody is left to expire them.
   */
  dropQuorum(): void {
    const alive = this.#ensemble.servers.filter((server) => server.host.alive);
    const followersFirst = [...alive].sort((one, other) => Number(isLeading(one)) - Number(isLeading(other)));
    const minority = Math.ceil(this.#ensemble.serverCount / 2) - 1;
    const stopped = followersFirst.slice(0, Math.max(0, alive.length - minority));
    this.#stoppedForQuorum = stopped.map((server) => server.id);
    for (const server of stopped) server.kill();
  }

  restoreQuorum(): void {
    for (const serverId of this.#stoppedForQuorum) this.startServer(serverId);
    this.#stoppedForQuorum = [];
  }

  /** Stops every server, empties its disk and starts it again. The transaction numbers begin anew. */
  wipe(): void {
    // All disks are emptied before any server starts: one with data would pass it on to the others.
    for (const server of this.#ensemble.servers) {
      server.kill();
      server.wipe();
    }
    for (const server of this.#ensemble.servers) server.start();
  }

  #leader(what: string): Leader {
    const role = this.#ensemble.leader?.role;
    if (role instanceof Leader) return role;
    throw new Error(`Nobody leads the simulated ensemble now, so it cannot ${what}: wait until \`isServing\`.`);
  }
}

function isLeading(server: SimulatedServer): boolean {
  return server.role.name === 'leading';
}
