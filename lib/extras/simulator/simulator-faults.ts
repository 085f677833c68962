import { LockConfigurationError } from '../../lock/errors.js';
import type { Ambush, Direction } from '../../session/simulator/network/client-network.js';
import type { Latency } from '../../session/simulator/network/latency.js';
import type { PeerDirection } from '../../session/simulator/server/peer-link.js';
import type { SimulatedProcess } from '../../session/simulator/simulated-process.js';
import type { Simulation } from '../../session/simulator/simulation.js';
import type { ClientReference, FaultArguments, FaultName, RequestKind } from './fault-arguments.js';

/** One message that is to be lost. */
export interface LostMessage {
  /** Whether such a message has come by, and was lost. */
  readonly hasHappened: boolean;
}

/**
 * What can go wrong, by name. Each takes effect at once, waits for nothing and can be combined with any other; those that last
 * name the one that ends them. A client is meant by the object or by its name, a server by its id.
 */
export class SimulatorFaults implements Readonly<Record<FaultName, (...given: never[]) => unknown>> {
  readonly #simulation: Simulation;
  readonly #processes: ReadonlyMap<string, SimulatedProcess>;
  readonly #arguments: FaultArguments;

  /** @internal */
  constructor(simulation: Simulation, processes: ReadonlyMap<string, SimulatedProcess>, known: FaultArguments) {
    this.#simulation = simulation;
    this.#processes = processes;
    this.#arguments = known;
  }

  /** The client's connection is reset, once: it may come back at once, and keeps its session. */
  cutLink(client: ClientReference): void {
    this.#do('cutLink', client).suspend(this.#process(client));
  }

  /** The client's connection is reset and new ones are refused, until `acceptLinks`. */
  refuseLinks(client: ClientReference): void {
    this.#do('refuseLinks', client).refuse(this.#process(client));
  }

  /** New connections of the client are accepted again: ends `refuseLinks`. */
  acceptLinks(client: ClientReference): void {
    this.#do('acceptLinks', client).accept(this.#process(client));
  }

  /** A black hole: nothing arrives that way (both by default) until `resumeLink`, and neither end is told. */
  stallLink(client: ClientReference, direction?: Direction): void {
    this.#do('stallLink', client, direction).blackHole(this.#process(client), direction);
  }

  /** What was stalled arrives, in order, where the connection still stands: ends `stallLink`. */
  resumeLink(client: ClientReference): void {
    this.#do('resumeLink', client).pass(this.#process(client));
  }

  /** The client's next request of this kind is carried out; its reply is lost, and the connection with it. */
  loseNextReply(client: ClientReference, request: RequestKind): LostMessage {
    return lostMessage(this.#do('loseNextReply', client, request).loseReplyOfNext(this.#process(client), request));
  }

  /** The client's next request of this kind never reaches the server; the connection breaks instead. */
  loseNextRequest(client: ClientReference, request: RequestKind): LostMessage {
    return lostMessage(this.#do('loseNextRequest', client, request).loseNextRequest(this.#process(client), request));
  }

  /** The client is told of what it watches so much later, and of all that the server sends behind it. 0 ends it. */
  delayWatchEvents(client: ClientReference, delayMs: number): void {
    this.#do('delayWatchEvents', client, delayMs).delayWatches(this.#process(client), delayMs);
  }

  /** The latency of this client alone, one way; `undefined` is that of all. */
  setLatency(client: ClientReference, latencyMs: Latency | undefined): void {
    this.#do('setLatency', client, latencyMs).setLatency(this.#process(client), latencyMs);
  }

  /**
   * The leader ends the client's session, as if it had been silent for its time-out: its nodes are gone, its locks free.
   * @throws LockConfigurationError where the client has no session now, Error where nobody leads
   */
  expireSession(client: ClientReference): void {
    const faults = this.#do('expireSession', client);
    const { sessionId } = this.#process(client).network;
    const leader = this.#simulation.ensemble.leader;
    if (leader !== undefined && !leader.tree.sessions.has(sessionId)) {
      const name = this.#process(client).name;
      throw new LockConfigurationError(
        `expireSession: client '${name}' has no session now: wait until it is connected`,
      );
    }
    faults.expire(sessionId);
  }

  /** SIGSTOP: timers of the client and what arrives for it wait, while time goes on, until `resumeClient`. */
  pauseClient(client: ClientReference): void {
    this.#do('pauseClient', client);
    this.#process(client).pause();
  }

  /** SIGCONT: overdue timers of the client run first, then what has arrived. Ends `pauseClient`. */
  resumeClient(client: ClientReference): void {
    this.#do('resumeClient', client);
    this.#process(client).resume();
  }

  /** SIGKILL, for good: nothing of the client runs again, what it waits for never settles; servers see its connection close. */
  killClient(client: ClientReference): void {
    this.#do('killClient', client);
    this.#process(client).kill();
  }

  /** SIGKILL: clients and other servers see their connections close. It keeps what is on its disk, until `startServer`. */
  killServer(serverId: number): void {
    this.#do('killServer', serverId).killServer(serverId);
  }

  /** The server comes back with what is on its disk: ends `killServer`. */
  startServer(serverId: number): void {
    this.#do('startServer', serverId).startServer(serverId);
  }

  /** `killServer`, and `startServer` at once. */
  restartServer(serverId: number): void {
    this.#do('restartServer', serverId).restartServer(serverId);
  }

  /** SIGSTOP: connections stand, new ones are even accepted, and nothing is answered, until `thawServer`. */
  freezeServer(serverId: number): void {
    this.#do('freezeServer', serverId).freezeServer(serverId);
  }

  /** SIGCONT: ends `freezeServer`. */
  thawServer(serverId: number): void {
    this.#do('thawServer', serverId).thawServer(serverId);
  }

  /** Cuts a server off from the others, together with these clients (by default those connected to it), until `endIsolation`. */
  isolateServer(serverId: number, clients?: readonly ClientReference[]): void {
    const together = this.#do('isolateServer', serverId, clients);
    together.isolate(
      serverId,
      clients?.map((client) => this.#process(client)),
    );
  }

  /** Everybody can talk to everybody. What was sent meanwhile arrives where the connection still stands. */
  endIsolation(): void {
    this.#do('endIsolation').heal();
  }

  /** A follower carries out what is committed so much later: its reads are stale. 0 ends it. */
  lagServer(serverId: number, lagMs: number): void {
    this.#do('lagServer', serverId, lagMs).lag(serverId, lagMs);
  }

  /** Nothing arrives between a follower and its leader, that way or both, until `resumeServer`; its clients' links go on. */
  stallServer(serverId: number, direction?: PeerDirection): void {
    const faults = this.#do('stallServer', serverId, direction);
    for (const one of direction === undefined ? PEER_DIRECTIONS : [direction]) faults.stall(serverId, one);
  }

  /** What was stalled between a follower and its leader arrives: ends `stallServer`. */
  resumeServer(serverId: number): void {
    this.#do('resumeServer', serverId).flow(serverId);
  }

  /** The server grants no session more than this from now on, as one with another `maxSessionTimeout`; `undefined` ends it. */
  limitSessions(serverId: number, maxSessionTimeoutMs: number | undefined): void {
    this.#do('limitSessions', serverId, maxSessionTimeoutMs).limitSessions(serverId, maxSessionTimeoutMs);
  }

  /** Writes are logged, and none is committed, until `releaseCommits`. */
  holdCommits(): void {
    this.#do('holdCommits').holdCommits();
  }

  /** What is logged by a majority is committed: ends `holdCommits`. */
  releaseCommits(): void {
    this.#do('releaseCommits').releaseCommits();
  }

  /** Kills servers, followers first, until no majority is left. Sessions survive, as nobody is there to end them. */
  loseQuorum(): void {
    this.#do('loseQuorum').dropQuorum();
  }

  /** Starts the servers that `loseQuorum` killed. */
  restoreQuorum(): void {
    this.#do('restoreQuorum').restoreQuorum();
  }

  /** All servers start again with empty disks: sessions and keys are gone, and fencing tokens begin anew. */
  wipeServers(): void {
    this.#do('wipeServers').wipe();
  }

  /** Servers remove the nodes of keys that nobody uses any more, as they do once a minute. */
  removeEmptyKeys(): void {
    this.#do('removeEmptyKeys').reapContainers();
  }

  /** The next node in the queue of this key gets this number: 2147483647 is the last there is. The path has the namespace. */
  setNextSequence(path: string, next: number): void {
    this.#do('setNextSequence', path, next).jumpSequence(path, next);
  }

  /** Ends all faults that last: servers are up, clients that were not killed go on, and everybody is reached. */
  endAll(): void {
    const faults = this.#do('endAll');
    for (const { id } of this.#simulation.ensemble.servers) {
      faults.startServer(id);
      faults.thawServer(id);
      faults.flow(id);
      faults.lag(id, 0);
      faults.limitSessions(id, undefined);
    }
    for (const process of this.#processes.values()) {
      faults.accept(process);
      faults.pass(process);
      faults.delayWatches(process, 0);
      faults.setLatency(process, undefined);
      process.resume();
    }
    faults.releaseCommits();
    faults.heal();
  }

  /** Whoever checks has every mistake told before anything has gone wrong. */
  #do(fault: FaultName, ...given: readonly unknown[]): Simulation['faults'] {
    this.#arguments.check(fault, given);
    return this.#simulation.faults;
  }

  #process(client: ClientReference): SimulatedProcess {
    return this.#arguments.process(client);
  }
}

const PEER_DIRECTIONS: readonly PeerDirection[] = ['to-leader', 'to-follower'];

function lostMessage(ambush: Ambush): LostMessage {
  return {
    get hasHappened() {
      return ambush.isSprung;
    },
  };
}
