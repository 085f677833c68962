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

/** One server on the machine's own clock: what `memory:` connects to. */
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

  /** The sessions that came in here and have not ended. */
  get sessionIds(): bigint[] {
    const living = this.#ensemble.leader?.tree.sessions;
    return [...this.#networks].flatMap(({ sessionId }) => (living?.has(sessionId) === true ? [sessionId] : []));
  }

  /**
   * For one session.
   *
   * @param acl for creates that name none
   */
  dialer(acl?: readonly Acl[]): Dialer {
    const network = new ClientNetwork(`embedded ${(clients += 1)}`);
    network.acl = acl;
    network.refusesConnections = this.#refuses;
    this.#networks.add(network);
    return new SimulatedDialer(this.#ensemble, new Host(this.#ensemble.timeline, false), network);
  }

  /** Another way to the same server: what goes wrong here leaves those who come in there alone. */
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

  /** For good: no timer of it is left. */
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
 * The ensemble of this name in this Node process, made when first asked for: sessions that name the same one compete
 * for the same locks. It lives as long as the process and does not keep it alive; nothing of it is stored.
 */
export function embeddedEnsemble(name: string): EmbeddedEnsemble {
  const ensemble = ensembles.get(name) ?? new EmbeddedEnsemble();
  ensembles.set(name, ensemble);
  return ensemble;
}
