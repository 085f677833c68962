import type { Timer } from '../../../lock/clock.js';
import type { Dialer, DialOptions, Link, LinkListener, Server } from '../../core/link.js';
import type { Ensemble } from '../server/ensemble.js';
import type { Host } from '../time/host.js';
import type { ClientNetwork } from './client-network.js';
import { type SimulatedClient, SimulatedLink } from './simulated-link.js';

const HOST_PREFIX = 'simulated-';

/** The addresses under which an ensemble's servers are dialled. */
export function addressesOf(ensemble: Ensemble): readonly Server[] {
  return ensemble.servers.map(({ id }) => ({ host: `${HOST_PREFIX}${id}`, port: 2181 }));
}

/** Connects one client to the servers of an ensemble in memory. */
export class SimulatedDialer implements Dialer {
  readonly #client: SimulatedClient;

  constructor(ensemble: Ensemble, host: Host, network: ClientNetwork) {
    this.#client = { ensemble, host, network };
  }

  dial(address: Server, listener: LinkListener, options: DialOptions = {}): Link {
    const { ensemble, host } = this.#client;
    const server = ensemble.servers.find(({ id }) => address.host === `${HOST_PREFIX}${id}`);
    if (server === undefined) return new UnresolvableLink(host, address.host, listener);
    return new SimulatedLink(this.#client, server, { ...options, listener });
  }
}

/** The link that results from dialling a name that no server has. */
class UnresolvableLink implements Link {
  readonly lastZxid = 0n;
  readonly #failure: Timer;

  constructor(host: Host, name: string, listener: LinkListener) {
    this.#failure = host.setTimer(0, () => listener.onClosed(new Error(`No simulated server has the name ${name}`)));
  }

  handshake(): void {
    // There is no server to talk to; the listener is told by the timer.
  }

  send(): boolean {
    return true;
  }

  flush(): undefined {
    // No frame was queued that could leave.
    return undefined;
  }

  destroy(): void {
    this.#failure.cancel();
  }
}
