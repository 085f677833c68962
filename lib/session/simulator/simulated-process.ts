import type { Clock } from '../../lock/clock.js';
import type { Dialer } from '../core/link.js';
import type { Acl } from '../requests.js';
import { ClientNetwork } from './network/client-network.js';
import { clientEndpoint } from './network/partition.js';
import { SimulatedDialer } from './network/simulated-dialer.js';
import type { Ensemble } from './server/ensemble.js';
import { Host } from './time/host.js';

/** One application process: its clock, its random source and its network. It can be stopped, continued and killed. */
export class SimulatedProcess {
  readonly clock: Clock;
  /** Draws from [0, 1). Other processes do not change what this one draws. */
  readonly random: () => number;
  /** The network on which `Faults` act. */
  readonly network: ClientNetwork;
  readonly #ensemble: Ensemble;
  readonly #host: Host;

  constructor(
    ensemble: Ensemble,
    readonly name: string,
  ) {
    const random = ensemble.random.fork(`process ${name}`);
    this.#ensemble = ensemble;
    this.#host = new Host(ensemble.timeline, true);
    this.network = new ClientNetwork(name);
    this.clock = this.#host.clock;
    this.random = () => random.next();
  }

  /** The name by which partitions know this process. */
  get endpoint(): string {
    return clientEndpoint(this.name);
  }

  /** @param acl the access rights of creates that name none */
  dialer(acl?: readonly Acl[]): Dialer {
    this.network.acl = acl;
    return new SimulatedDialer(this.#ensemble, this.#host, this.network);
  }

  /** Dials an ensemble inside this process: no fault of the network comes in between. */
  dialerInside(ensemble: Ensemble): Dialer {
    return new SimulatedDialer(ensemble, this.#host, new ClientNetwork(`${this.name} alone`));
  }

  get state(): 'running' | 'paused' | 'killed' {
    if (!this.#host.alive) return 'killed';
    return this.#host.paused ? 'paused' : 'running';
  }

  /** The ids of the servers that this process is connected to now. */
  get connectedTo(): number[] {
    return [...this.network.links].map((link) => link.server.id);
  }

  /** SIGSTOP: connections stay, timers and arriving messages wait. */
  pause(): void {
    this.#host.pause();
  }

  /** SIGCONT: overdue timers run before anything that has arrived. */
  resume(): void {
    this.#host.resume();
  }

  /** SIGKILL: none of its code runs again, and the servers see its connections close. */
  kill(): void {
    this.#host.kill();
    // Destroying a link takes it out of the set, so the loop runs over a copy.
    for (const link of [...this.network.links]) link.destroy();
  }
}
