import type { Dialer, Server } from '../core/link.js';
import type { Acl } from '../requests.js';
import { Faults } from './faults.js';
import { ClientNetwork } from './network/client-network.js';
import { addressesOf, SimulatedDialer } from './network/simulated-dialer.js';
import { Ensemble } from './server/ensemble.js';
import { DEFAULT_SETTINGS, type EnsembleSettings } from './server/settings.js';
import { Host } from './time/host.js';
import { SeededRandom } from './time/random.js';
import { RealTime } from './time/real-time.js';

/** One server on the machine's own clock, for `memory:` to connect to. */
export class EmbeddedEnsemble {
  readonly #ensemble: Ensemble;
  readonly #networks = new Set<ClientNetwork>();
  #refuses = false;

  constructor(settings: Partial<EnsembleSettings> = {}, neighbour?: EmbeddedEnsemble) {
    this.#ensemble =
      neighbour === undefined
        ? new Ensemble(new RealTime(), { ...DEFAULT_SETTINGS, clientLatencyMs: 0, ...settings }, new SeededRandom(0))
        : neighbour.#ensemble;
  }

  get servers(): readonly Server[] {
    return addressesOf(this.#ensemble);
  }

  /** The sessions that came in through this entrance and have not ended. */
  get sessionIds(): bigint[] {
    // A network remembers its last session also after its end, so the leader's list decides.
    const living = this.#ensemble.leader?.tree.sessions;
    return [...this.#networks].flatMap(({ sessionId }) => (living?.has(sessionId) === true ? [sessionId] : []));
  }

  /**
   * The dialer of one session.
   *
   * @param acl the access rights of creates that name none
   */
  dialer(acl?: readonly Acl[]): Dialer {
    const network = new ClientNetwork(`embedded ${(clients += 1)}`);
    network.acl = acl;
    network.refusesConnections = this.#refuses;
    this.#networks.add(network);
    return new SimulatedDialer(this.#ensemble, new Host(this.#ensemble.timeline, false), network);
  }

  /** Another entrance to the same server. Faults of one entrance do not touch those who came in through another. */
  secondEntrance(): EmbeddedEnsemble {
    return new EmbeddedEnsemble({}, this);
  }

  /** Resets every connection that came in here, and refuses new ones until `accept`. */
  refuse(): void {
    this.#setRefuses(true);
    for (const network of this.#networks) network.cut();
  }

  accept(): void {
    this.#setRefuses(false);
  }

  /** Ends the sessions that came in here, as if they had been silent for their time-out. */
  expire(): void {
    const faults = new Faults(this.#ensemble);
    for (const sessionId of this.sessionIds) faults.expire(sessionId);
  }

  /** Stops the ensemble for good. No timer of it is left. */
  stop(): void {
    this.#ensemble.stop();
  }

  #setRefuses(refuses: boolean): void {
    this.#refuses = refuses;
    for (const network of this.#networks) network.refusesConnections = refuses;
  }
}

let clients = 0;
const ensembles = new Map<string, EmbeddedEnsemble>();

/**
 * The ensemble of this name in this Node process, made at the first call. Sessions that use the same name compete for
 * the same locks. The ensemble lives as long as the process, does not keep it alive, and stores nothing.
 */
export function embeddedEnsemble(name: string): EmbeddedEnsemble {
  const ensemble = ensembles.get(name) ?? new EmbeddedEnsemble();
  ensembles.set(name, ensemble);
  return ensemble;
}
