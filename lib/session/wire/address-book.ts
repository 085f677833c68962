import { isIP } from 'node:net';

/** An address with its family, 4 or 6, in front, so that sorting puts the families apart. */
type FamilyAddress = string;

/**
 * Chooses the address of a name to try. A name may stand for several servers (a headless service), so each dial begins
 * one address further than the last. A name may also stand for one server in two families, so an address of the other
 * family goes along as a spare.
 */
export class AddressBook {
  readonly #lasts = new Map<string, { readonly address: FamilyAddress; readonly gaveSession: boolean }>();
  readonly #random: () => number;

  /** @param random in [0, 1): where the rotation begins, so that not all clients of a fleet begin at the same server */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** The address to try now, followed by the spare if there is one. */
  choose(host: string, addresses: readonly string[]): readonly string[] {
    // Name servers shuffle their answers, so the addresses are sorted here. IPv4 comes first, as most servers listen
    // there.
    const sorted = addresses.map(withFamily).sort();
    const first = this.#begin(host, sorted);
    if (first === undefined) return [];
    this.#lasts.set(host, { address: first, gaveSession: false });
    const spare = sorted.find((address) => familyOf(address) !== familyOf(first));
    return [first, spare].flatMap((address) => address?.slice(1) ?? []);
  }

  /**
   * Notes that a session was had at this address. Later dials keep to its family: another service may listen on the
   * other one.
   */
  gaveSession(host: string, address: string): void {
    this.#lasts.set(host, { address: withFamily(address), gaveSession: true });
  }

  #begin(host: string, addresses: readonly FamilyAddress[]): FamilyAddress | undefined {
    const last = this.#lasts.get(host);
    // The last address gave no session, so the next one is tried, whatever its family.
    if (last?.gaveSession === false) return following(addresses, last.address);
    const family = familyOf(last?.address ?? addresses[0]);
    const ofSameFamily = addresses.filter((address) => familyOf(address) === family);
    if (last === undefined) return ofSameFamily[Math.floor(this.#random() * ofSameFamily.length)];
    return following(ofSameFamily, last.address) ?? addresses[0];
  }
}

function withFamily(address: string): FamilyAddress {
  return `${isIP(address)}${address}`;
}

function familyOf(address: FamilyAddress | undefined): string | undefined {
  return address?.[0];
}

function following(addresses: readonly FamilyAddress[], last: FamilyAddress): FamilyAddress | undefined {
  return addresses.find((address) => address > last) ?? addresses[0];
}
