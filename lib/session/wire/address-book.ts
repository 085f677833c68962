import { isIP } from 'node:net';

/** An address behind its family, 4 or 6: places sort by family first. */
type Place = string;

/**
 * Which address of a name to try. A name may stand for several servers (a headless service), so each dial begins one
 * further than the last. A name may also stand for one server in two families: an address of the other one goes along as
 * a spare.
 */
export class AddressBook {
  readonly #lasts = new Map<string, { readonly place: Place; readonly gaveSession: boolean }>();
  readonly #random: () => number;

  /** @param random in [0, 1): where the rotation begins, so that not every client of a fleet begins at the same server */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** The address to try now, and the spare if there is one. */
  choose(host: string, addresses: readonly string[]): readonly string[] {
    // Name servers shuffle their answers, so the order is our own. Servers mostly listen on IPv4, which comes first.
    const places = addresses.map(placeOf).sort();
    const first = this.#begin(host, places);
    if (first === undefined) return [];
    this.#lasts.set(host, { place: first, gaveSession: false });
    const spare = places.find((place) => familyOf(place) !== familyOf(first));
    return [first, spare].flatMap((place) => place?.slice(1) ?? []);
  }

  /** The family of this address is stayed with: what listens on the other one may be somebody else's. */
  gaveSession(host: string, address: string): void {
    this.#lasts.set(host, { place: placeOf(address), gaveSession: true });
  }

  #begin(host: string, places: readonly Place[]): Place | undefined {
    const last = this.#lasts.get(host);
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
