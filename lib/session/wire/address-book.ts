import { isIPv6 } from 'node:net';

interface Entry {
  /** The family that worked last, not the one that failed last; servers mostly listen on IPv4, so that comes first. */
  preferIPv6: boolean;
  lastIPv4: string | undefined;
  lastIPv6: string | undefined;
}

/**
 * Which address of a name to try. A name may stand for several servers (a headless service), so each dial takes the
 * next one. A name may also stand for one server in two families: an address of the other one goes along as a spare.
 */
export class AddressBook {
  readonly #entries = new Map<string, Entry>();
  readonly #random: () => number;

  /** @param random in [0, 1): where the rotation begins, so that not every client of a fleet begins at the same server */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** The address to try now, and the spare if there is one. */
  choose(host: string, addresses: readonly string[]): readonly string[] {
    const entry = this.#entry(host);
    entry.lastIPv4 = this.#next(
      addresses.filter((address) => !isIPv6(address)),
      entry.lastIPv4,
    );
    entry.lastIPv6 = this.#next(
      addresses.filter((address) => isIPv6(address)),
      entry.lastIPv6,
    );
    const chosen = entry.preferIPv6 ? [entry.lastIPv6, entry.lastIPv4] : [entry.lastIPv4, entry.lastIPv6];
    return chosen.filter((address) => address !== undefined);
  }

  /** This address accepted a connection: its family is tried first from now on. */
  worked(host: string, address: string): void {
    this.#entry(host).preferIPv6 = isIPv6(address);
  }

  /**
   * This address accepted a connection, of which no session came: what listens there may be somebody else's, and the
   * server on the other family, which is tried first from now on.
   */
  openedNoSession(host: string, address: string): void {
    this.#entry(host).preferIPv6 = !isIPv6(address);
  }

  #entry(host: string): Entry {
    let entry = this.#entries.get(host);
    if (entry === undefined) {
      entry = { preferIPv6: false, lastIPv4: undefined, lastIPv6: undefined };
      this.#entries.set(host, entry);
    }
    return entry;
  }

  /** In the order of the addresses themselves: name servers shuffle their answers. */
  #next(addresses: readonly string[], last: string | undefined): string | undefined {
    const sorted = [...addresses].sort();
    if (last === undefined) return sorted[Math.floor(this.#random() * sorted.length)];
    return sorted.find((address) => address > last) ?? sorted[0];
  }
}
