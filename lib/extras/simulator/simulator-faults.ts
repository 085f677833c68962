import { LockConfigurationError } from '../../lock/errors.js';
import type { PlannedLoss, Direction } from '../../session/simulator/network/client-network.js';
import type { Latency } from '../../session/simulator/network/latency.js';
import type { PeerDirection } from '../../session/simulator/server/peer-link.js';
import type { SimulatedProcess } from '../../session/simulator/simulated-process.js';
import type { Simulation } from '../../session/simulator/simulation.js';
import type { ClientReference, FaultArguments, FaultName, RequestKind } from './fault-arguments.js';

/** A message that is to be lost. */
export interface LostMessage {
  /** Whether such a message has been sent and lost. */
  readonly hasHappened: boolean;
}

/**
 * The faults, by name. Each takes effect at once, waits for nothing and can be combined with any other. The description
 * of a lasting fault names the method that ends it. A client is given as the object or by its name, a server by its id.
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

  /** Resets the client's connection once. The client may come back at once, and keeps its session. */
  cutLink(client: ClientReference): void {
    this.#do('cutLink', client).suspend(this.#process(client));
  }

  /** Resets the client's connection and refuses new ones until `acceptLinks`. */
  refuseLinks(client: ClientReference): void {
    this.#do('refuseLinks', client).refuse(this.#process(client));
  }

  /** Accepts new connections of the client again: ends `refuseLinks`. */
  acceptLinks(client: ClientReference): void {
    this.#do('acceptLinks', client).accept(this.#process(client));
  }

  /** A black hole: nothing arrives in this direction (by default in both) until `resumeLink`. No end is told. */
  stallLink(client: ClientReference, direction?: Direction): void {
    this.#do('stallLink', client, direction).blackHole(this.#process(client), direction);
  }

  /** Delivers what was stalled, in order, where the connection still stands: ends `stallLink`. */
  resumeLink(client: ClientReference): void {
    this.#do('resumeLink', client).pass(this.#process(client));
  }

  /** Lets the client's next request of this kind be carried out, and loses its reply and the connection. */
  loseNextReply(client: ClientReference, request: RequestKind): LostMessage {
    return lostMessage(this.#do('loseNextReply', client, request).loseReplyOfNext(this.#process(client), request));
  }

  /** Breaks the connection before the client's next request of this kind reaches the server. */
  loseNextRequest(client: ClientReference, request: RequestKind): LostMessage {
    return lostMessage(this.#do('loseNextRequest', client, request).loseNextRequest(this.#process(client), request));
  }

  /** Delays the client's watch events, and everything that the server sends behind them. 0 ends it. */
  delayWatchEvents(client: ClientReference, delayMs: number): void {
    this.#do('delayWatchEvents', client, delayMs).delayWatches(this.#process(client), delayMs);
  }

  /** Sets the latency of this client alone, in one direction. `undefined` means the ensemble's own. */
  setLatency(client: ClientReference, latencyMs: Latency | undefined): void {
    this.#do('setLatency', client, latencyMs).setLatency(this.#process(client), latencyMs);
  }

  /**
   * Lets the leader end the client's session, as if it had been silent for its time-out: its nodes are gone, its locks
   * free.
   * @throws LockConfigurationError where the client has no session now, Error where there is no leader
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

  /** SIGSTOP: timers of the client and messages for it wait until `resumeClient`, while time goes on. */
  pauseClient(client: ClientReference): void {
    this.#do('pauseClient', client);
    this.#process(client).pause();
  }

  /** SIGCONT: overdue timers of the client run first, then messages that have arrived. Ends `pauseClient`. */
  resumeClient(client: ClientReference): void {
    this.#do('resumeClient', client);
    this.#process(client).resume();
  }

  /** SIGKILL: the client never runs again, and its promises never settle. Servers see its connection close. */
  killClient(client: ClientReference): void {
    this.#do('killClient', client);
    this.#process(client).kill();
  }

  /** SIGKILL: clients and other servers see their connections close. `startServer` finds the disk as it was. */
  killServer(serverId: number): void {
    this.#do('killServer', serverId).killServer(serverId);
  }

  /** Starts the server again with what is on its disk: ends `killServer`. */
  startServer(serverId: number): void {
    this.#do('startServer', serverId).startServer(serverId);
  }

  /** Kills the server and starts it again at once. */
  restartServer(serverId: number): void {
    this.#do('restartServer', serverId).restartServer(serverId);
  }

  /** SIGSTOP: connections stay, new ones are even accepted, and nothing is answered until `thawServer`. */
  freezeServer(serverId: number): void {
    this.#do('freezeServer', serverId).freezeServer(serverId);
  }

  /** SIGCONT: ends `freezeServer`. */
  thawServer(serverId: number): void {
    this.#do('thawServer', serverId).thawServer(serverId);
  }

  /** Cuts a server and these clients (by default its own) off from the other servers until `endIsolation`. */
  isolateServer(serverId: number, clients?: readonly ClientReference[]): void {
    const together = this.#do('isolateServer', serverId, clients);
    together.isolate(
      serverId,
      clients?.map((client) => this.#process(client)),
    );
  }

  /** Ends all isolation. What was sent meanwhile arrives where the connection still stands. */
  endIsolation(): void {
    this.#do('endIsolation').heal();
  }

  /** Delays a follower in carrying out what is committed, so that its reads are stale. 0 ends it. */
  lagServer(serverId: number, lagMs: number): void {
    this.#do('lagServer', serverId, lagMs).lag(serverId, lagMs);
  }

  /** Stalls one or both directions between a follower and its leader until `resumeServer`. Clients' links go on. */
  stallServer(serverId: number, direction?: PeerDirection): void {
    const faults = this.#do('stallServer', serverId, direction);
    for (const one of direction === undefined ? PEER_DIRECTIONS : [direction]) faults.stall(serverId, one);
  }

  /** Delivers what was stalled between a follower and its leader: ends `stallServer`. */
  resumeServer(serverId: number): void {
    this.#do('resumeServer', serverId).flow(serverId);
  }

  /** Limits the time-outs that the server grants, as `maxSessionTimeout` does. `undefined` ends it. */
  limitSessions(serverId: number, maxSessionTimeoutMs: number | undefined): void {
    this.#do('limitSessions', serverId, maxSessionTimeoutMs).limitSessions(serverId, maxSessionTimeoutMs);
  }

  /** Lets servers log writes but commit none until `releaseCommits`. */
  holdCommits(): void {
    this.#do('holdCommits').holdCommits();
  }

  /** Commits what a majority has logged: ends `holdCommits`. */
  releaseCommits(): void {
    this.#do('releaseCommits').releaseCommits();
  }

  /** Kills servers, followers first, until no majority is left. Sessions survive: nobody is left to end them. */
  loseQuorum(): void {
    this.#do('loseQuorum').dropQuorum();
  }

  /** Starts the servers that `loseQuorum` killed. */
  restoreQuorum(): void {
    this.#do('restoreQuorum').restoreQuorum();
  }

  /** Starts all servers again with empty disks: sessions and keys are gone, and fencing tokens begin anew. */
  wipeServers(): void {
    this.#do('wipeServers').wipe();
  }

  /** Lets servers remove the nodes of unused keys, as they do once a minute. */
  removeEmptyKeys(): void {
    this.#do('removeEmptyKeys').reapContainers();
  }

  /** Sets the number of the next node in this queue; 2147483647 is the last one. The path includes the namespace. */
  setNextSequence(path: string, next: number): void {
    this.#do('setNextSequence', path, next).jumpSequence(path, next);
  }

  /** Ends all lasting faults: servers are up, clients that were not killed go on, and all can reach each other. */
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

  #do(fault: FaultName, ...given: readonly unknown[]): Simulation['faults'] {
    // Arguments are checked before the fault is touched, so that a mistake is told before anything goes wrong.
    this.#arguments.check(fault, given);
    return this.#simulation.faults;
  }

  #process(client: ClientReference): SimulatedProcess {
    return this.#arguments.process(client);
  }
}

const PEER_DIRECTIONS: readonly PeerDirection[] = ['to-leader', 'to-follower'];

function lostMessage(loss: PlannedLoss): LostMessage {
  return {
    get hasHappened() {
      return loss.hasHappened;
    },
  };
}
