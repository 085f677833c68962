import type { Timer } from '../../../lock/clock.js';
import { drawLatency } from '../network/latency.js';
import { Partition, serverEndpoint } from '../network/partition.js';
import type { SeededRandom } from '../time/random.js';
import type { Timeline } from '../time/timeline.js';
import type { Constituency } from './constituency.js';
import { elect, leaderInReachOf, lookingServers, type Electorate } from './election.js';
import { Leader } from './leader.js';
import type { PeerDirection, PeerLink } from './peer-link.js';
import { SimulatedServer } from './server.js';
import type { EnsembleSettings } from './settings.js';
import { Traffic } from './traffic.js';

/** A client's link, which follows the changes of the network. */
export interface Holdable {
  refreshReach(): void;
}

export type Trace = (line: string) => void;

/** The servers, the network between them, and the leader in office. */
export class Ensemble implements Electorate, Constituency {
  readonly servers: readonly SimulatedServer[];
  readonly traffic = new Traffic();
  readonly partition = new Partition(() => this.#onReachChanged());
  readonly clientLinks = new Set<Holdable>();
  readonly random: SeededRandom;
  readonly #peerLinks = new Set<PeerLink>();
  /** The directions between followers and their leaders in which nothing arrives, written as `direction serverId`. */
  readonly #stalledWays = new Set<string>();
  #election: Timer | undefined;
  #commitsAreHeld = false;

  constructor(
    readonly timeline: Timeline,
    readonly settings: EnsembleSettings,
    random: SeededRandom,
    readonly trace?: Trace,
  ) {
    this.random = random;
    const surroundings = {
      timeline,
      settings,
      traffic: this.traffic,
      random,
      onLooking: () => this.#callElection(),
    };
    this.servers = Array.from({ length: settings.servers }, (_, index) => new SimulatedServer(index + 1, surroundings));
    this.#holdElection();
  }

  get serverCount(): number {
    return this.servers.length;
  }

  get commitsAreHeld(): boolean {
    return this.#commitsAreHeld;
  }

  /** The leader in office. An older one that is cut off may still believe that it leads. */
  get leader(): SimulatedServer | undefined {
    return this.servers
      .filter((server) => server.host.alive && server.role.isServing && server.role.name === 'leading')
      .sort((one, other) => other.currentEpoch - one.currentEpoch)[0];
  }

  get isServing(): boolean {
    return this.leader !== undefined;
  }

  /** Whether every server that is up serves. */
  get isWhole(): boolean {
    return this.servers.every((server) => !server.host.alive || server.role.isServing);
  }

  server(id: number): SimulatedServer {
    const server = this.servers[id - 1];
    if (server === undefined) throw new Error(`There is no server ${id}: this ensemble has 1 to ${this.serverCount}.`);
    return server;
  }

  canTalk(one: SimulatedServer, other: SimulatedServer): boolean {
    return this.partition.canTalk(serverEndpoint(one.id), serverEndpoint(other.id));
  }

  drawPeerLatency(): number {
    return drawLatency(this.settings.peerLatencyMs, this.random);
  }

  drawClientLatency(): number {
    return drawLatency(this.settings.clientLatencyMs, this.random);
  }

  holdCommits(held: boolean): void {
    this.#commitsAreHeld = held;
    for (const { role } of this.servers) {
      if (!held && role instanceof Leader) role.commitWhatIsLogged();
    }
  }

  /**
   * Stalls or frees one direction between this follower and its leader, whoever leads. Messages arrive when the stall
   * ends.
   */
  stall(followerId: number, direction: PeerDirection, stalled: boolean): void {
    if (stalled) this.#stalledWays.add(`${direction} ${followerId}`);
    else this.#stalledWays.delete(`${direction} ${followerId}`);
    this.#onReachChanged();
  }

  /** Stops the ensemble for good. No timer of it is left. */
  stop(): void {
    this.#election?.cancel();
    for (const server of this.servers) server.kill();
  }

  onPeerLink(link: PeerLink): void {
    // Finished links are dropped, or a long run would collect them.
    for (const known of this.#peerLinks) {
      if (known.isFinished) this.#peerLinks.delete(known);
    }
    this.#peerLinks.add(link);
    this.#refresh(link);
  }

  onServing(): void {
    this.considerElection();
  }

  /** Calls an election if there are servers to elect a leader or to join one. */
  considerElection(): void {
    if (lookingServers(this).length > 0) this.#callElection();
  }

  #callElection(): void {
    if (this.#election !== undefined) return;
    this.#election = this.timeline.after(drawLatency(this.settings.electionMs, this.random), () => {
      this.#election = undefined;
      this.#holdElection();
    });
  }

  #holdElection(): void {
    for (const server of lookingServers(this)) {
      // A server that can reach a leader in office joins it instead of voting.
      const leader = leaderInReachOf(server, this);
      if (leader?.role instanceof Leader) leader.role.attach(server);
    }
    const result = elect(this);
    if (result !== undefined) {
      const { leader, followers, epoch } = result;
      for (const voter of [leader, ...followers]) voter.acceptedEpoch = epoch;
      // A server that is the whole ensemble has no epochs.
      const role = new Leader(leader, this, this.serverCount > 1 ? epoch : undefined);
      leader.role = role;
      for (const follower of followers) role.attach(follower);
      role.begin();
    }
    this.considerElection();
  }

  #onReachChanged(): void {
    for (const link of this.#peerLinks) this.#refresh(link);
    for (const link of this.clientLinks) link.refreshReach();
  }

  #refresh(link: PeerLink): void {
    const isCut = !this.canTalk(this.server(link.leaderId), this.server(link.followerId));
    link.hold({
      'to-leader': isCut || this.#stalledWays.has(`to-leader ${link.followerId}`),
      'to-follower': isCut || this.#stalledWays.has(`to-follower ${link.followerId}`),
    });
  }
}
