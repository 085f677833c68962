import { Ambush, type Direction, type Op } from './network/client-network.js';
import type { Latency } from './network/latency.js';
import { clientEndpoint, serverEndpoint } from './network/partition.js';
import type { Ensemble } from './server/ensemble.js';
import { Leader } from './server/leader.js';
import type { PeerDirection } from './server/peer-link.js';
import type { SimulatedServer } from './server/server.js';
import type { SimulatedProcess } from './simulated-process.js';

const BOTH_DIRECTIONS: readonly Direction[] = ['to-server', 'to-client'];

/** Everything that can be made to go wrong, by name. Each takes effect at once; nothing here waits. */
export class Faults {
  readonly #ensemble: Ensemble;
  #stoppedForQuorum: number[] = [];

  constructor(ensemble: Ensemble) {
    this.#ensemble = ensemble;
  }

  /** Resets the client's connection, once: it may come back at once. */
  suspend(client: SimulatedProcess): void {
    client.network.cut();
  }

  /** Resets the client's connection, and refuses new ones until `accept`. */
  refuse(client: SimulatedProcess): void {
    client.network.refusesConnections = true;
    client.network.cut();
  }

  accept(client: SimulatedProcess): void {
    client.network.refusesConnections = false;
  }

  /** Swallows what goes that way (both ways by default), and nobody is told; `pass` ends it, and nothing was lost. */
  blackHole(client: SimulatedProcess, direction?: Direction): void {
    client.network.hold(direction === undefined ? BOTH_DIRECTIONS : [direction]);
  }

  pass(client: SimulatedProcess): void {
    client.network.release();
  }

  /** The next request of this kind is carried out; its reply is lost, and the connection with it. */
  loseReplyOfNext(client: SimulatedProcess, op: Op): Ambush {
    return client.network.lieInWait(new Ambush('lose-reply', op));
  }

  /** The next request of this kind never reaches the server; the connection breaks instead. */
  loseNextRequest(client: SimulatedProcess, op: Op): Ambush {
    return client.network.lieInWait(new Ambush('lose-request', op));
  }

  /** Watch events come so much later, and so does what the server sends after one of them: order is kept. */
  delayWatches(client: SimulatedProcess, delayMs: number): void {
    client.network.watchDelayMs = delayMs;
  }

  /** For this client alone; undefined for the ensemble's own. */
  setLatency(client: SimulatedProcess, latencyMs: Latency | undefined): void {
    client.network.latencyMs = latencyMs;
  }

  /** The leader ends the session, as if it had been silent for its time-out. */
  expire(sessionId: bigint): void {
    this.#leader('expire a session').expire(sessionId);
  }

  /** Removes the containers that have had children and have none, without waiting for the hour. */
  reapContainers(): void {
    this.#leader('reap containers').reapContainers();
  }

  /** The next child in sequence of `path` gets the number `next`, an int32. Outside of the history: on every server. */
  jumpSequence(path: string, next: number): void {
    this.#leader('jump a sequence').jumpSequence(path, next);
    for (const server of this.#ensemble.servers) {
      const node = server.tree.nodes.get(path);
      if (node !== undefined) node.creates = next;
    }
  }

  /** Proposals are made and logged, and none is committed until `releaseCommits`. */
  holdCommits(): void {
    this.#ensemble.holdCommits(true);
  }

  releaseCommits(): void {
    this.#ensemble.holdCommits(false);
  }

  /** The server carries out what is committed so much later: its reads are stale. No effect while it leads. */
  lag(serverId: number, applyLagMs: number): void {
    this.#ensemble.server(serverId).applyLagMs = applyLagMs;
  }

  /** SIGKILL: clients and other servers see their connections close, new ones are refused. */
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

  /** SIGSTOP: connections stand, new ones are even accepted by its operating system, and nothing is answered. */
  freezeServer(serverId: number): void {
    this.#ensemble.server(serverId).host.pause();
  }

  thawServer(serverId: number): void {
    this.#ensemble.server(serverId).host.resume();
    this.#ensemble.considerElection();
  }

  /** Nothing arrives on this way between a follower and its leader until `flow`; the other way goes on. */
  stall(followerId: number, direction: PeerDirection): void {
    this.#ensemble.stall(followerId, direction, true);
  }

  flow(followerId: number): void {
    for (const direction of ['to-leader', 'to-follower'] as const) this.#ensemble.stall(followerId, direction, false);
  }

  /** The server grants no session more than this, as one restarted with another `maxSessionTimeout`; undefined: the usual. */
  limitSessions(serverId: number, maxSessionTimeoutMs: number | undefined): void {
    this.#ensemble.server(serverId).maxSessionTimeoutMs = maxSessionTimeoutMs;
  }

  /** Cuts a server off from the other servers, together with these clients (by default those connected to it). */
  isolate(serverId: number, clients?: readonly SimulatedProcess[]): void {
    const connected = [...this.#ensemble.server(serverId).connections].map(({ clientName }) =>
      clientEndpoint(clientName),
    );
    const endpoints = clients?.map((client) => client.endpoint) ?? connected;
    this.#ensemble.partition.separate([serverEndpoint(serverId), ...endpoints]);
  }

  /** Ends every isolation. What was sent meanwhile arrives where the connection still stands. */
  heal(): void {
    this.#ensemble.partition.heal();
    this.#ensemble.considerElection();
  }

  /** Kills servers, followers first, until no majority is left. Sessions survive: nobody is there to expire them. */
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

  /** Stops every server, removes what is on their disks, and starts them again: transactions count from the beginning. */
  wipe(): void {
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
