import type { AuthenticationError } from './authentication.js';
import type { Server } from './link.js';

/** The servers of one round where authentication failed for a reason that will not pass by itself. */
export class RefusingServers {
  readonly #servers: readonly Server[];
  readonly #refusing = new Set<Server>();

  constructor(servers: readonly Server[]) {
    this.#servers = servers;
  }

  get areAll(): boolean {
    return this.#refusing.size === this.#servers.length;
  }

  /** @returns whether authentication can only succeed, at any server, once somebody has changed something */
  add(server: Server, { blames }: AuthenticationError): boolean {
    if (blames !== 'moment') this.#refusing.add(server);
    return blames === 'client' || this.areAll;
  }

  forget(): void {
    this.#refusing.clear();
  }
}
