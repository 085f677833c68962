import type { Clock } from '../../lock/clock.js';
import type { Dialer } from '../core/link.js';
import type { Acl } from '../requests.js';
import { ClientNetwork } from './network/client-network.js';
import { clientEndpoint } from './network/partition.js';
import { SimulatedDialer } from './network/simulated-dialer.js';
import type { Ensemble } from './server/ensemble.js';
import { Host } from './time/host.js';

/** One application process: its clock, its chance, its way to the servers. It can be stopped, continued and killed. */
export class SimulatedProcess {
  readonly clock: Clock;
  /** In [0, 1); other processes do not change what this one draws. */
  readonly random: () => number;
  /** For the faults; see `Faults`. */
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

  /** How partitions call it. */
  get endpoint(): string {
    return clientEndpoint(this.name);
  }

  /** @param acl for creates that name none */
  dialer(acl?: readonly Acl[]): Dialer {
    this.network.acl = acl;
    return new SimulatedDialer(this.#ensemble, this.#host, this.network);
  }

  /** To an ensemble that is a part of this process: no fault of the network comes in between. */
  dialerInside(ensemble: Ensemble): Dialer {
    return new SimulatedDialer(ensemble, this.#host, new ClientNetwork(`${this.name} alone`));
  }

  get state(): 'running' | 'paused' | 'killed' {
    if (!this.#host.alive) return 'killed';
    return this.#host.paused ? 'paused' : 'running';
  }

  /** The servers that it is connected to by now. */
  get connectedTo(): number[] {
    return [...this.network.links].map((link) => link.server.id);
  }

  /** SIGSTOP. Its connections stand, its timers and what arrives for it wait. */
  pause(): void {
    this.#host.pause();
  }

  /** SIGCONT. Overdue timers run before anything that has arrived. */
  resume(): void {
    this.#host.resume();
  }

  /** SIGKILL. Nothing of it ever runs again; the servers see its connections close. */
  kill(): void {
    this.#host.kill();
    for (const link of [...this.network.links]) link.destroy();
  }
}
