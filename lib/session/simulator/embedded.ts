import type { Dialer, Server } from '../core/link.js';
import type { Acl } from '../requests.js';
import { ClientNetwork } from './network/client-network.js';
import { addressesOf, SimulatedDialer } from './network/simulated-dialer.js';
import { Ensemble } from './server/ensemble.js';
import { DEFAULT_SETTINGS } from './server/settings.js';
import { Host } from './time/host.js';
import { SeededRandom } from './time/random.js';
import { RealTime } from './time/real-time.js';

/** One server on the machine's own clock: what `memory:` connects to. */
export class EmbeddedEnsemble {
  readonly #ensemble = new Ensemble(new RealTime(), { ...DEFAULT_SETTINGS, clientLatencyMs: 0 }, new SeededRandom(0));
  #clients = 0;

  get servers(): readonly Server[] {
    return addressesOf(this.#ensemble);
  }

  /**
   * For one session.
   *
   * @param acl for creates that name none
   */
  dialer(acl?: readonly Acl[]): Dialer {
    this.#clients += 1;
    const network = new ClientNetwork(`embedded ${this.#clients}`);
    network.acl = acl;
    return new SimulatedDialer(this.#ensemble, new Host(this.#ensemble.timeline, false), network);
  }
}

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
