import { isIP } from 'node:net';

/** An address with its family, 4 or 6, in front, so that sorting puts the families apart. */
type Place = string;

/**
 * Chooses the address of a name to try. A name may stand for several servers (a headless service), so each dial begins
 * one address further than the last. A name may also stand for one server in two families, so an address of the other
 * family goes along as a spare.
 */
export class AddressBook {
  readonly #lasts = new Map<string, { readonly place: Place; readonly gaveSession: boolean }>();
  readonly #random: () => number;

  /** @param random in [0, 1): where the rotation begins, so that not all clients of a fleet begin at the same server */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** The address to try now, followed by the spare if there is one. */
  choose(host: string, addresses: readonly string[]): readonly string[] {
    // Name servers shuffle their answers, so the addresses are sorted here. IPv4 comes first, as most servers listen
    // there.
    const places = addresses.map(placeOf).sort();
    const first = this.#begin(host, places);
    if (first === undefined) return [];
    this.#lasts.set(host, { place: first, gaveSession: false });
    const spare = places.find((place) => familyOf(place) !== familyOf(first));
    return [first, spare].flatMap((place) => place?.slice(1) ?? []);
  }

  /**
   * Notes that a session was had at this address. Later dials keep to its family: another service may listen on the
   * other one.
   */
  gaveSession(host: string, address: string): void {
    this.#lasts.set(host, { place: placeOf(address), gaveSession: true });
  }

  #begin(host: string, places: readonly Place[]): Place | undefined {
    const last = this.#lasts.get(host);
    // The last address gave no session, so the next one is tried, whatever its family.
    if (last?.gaveSession === false) return following(places, last.place);
    const family = familyOf(last?.place ?? places[0]);
    const mates = places.filter((place) => familyOf(place) === family);
    if (last === undefined) return mates[Math.floor(this.#random() * mates.length)];
    return following(mates, last.place) ?? places[0];
  }
}

function placeOf(address: string): Place {
  return `${isIP(address)}${address}`;
}

function familyOf(place: Place | undefined): string | undefined {
  return place?.[0];
}

function following(places: readonly Place[], last: Place): Place | undefined {
  return places.find((place) => place > last) ?? places[0];
}
