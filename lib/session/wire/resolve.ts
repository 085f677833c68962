import { isIP } from 'node:net';
import { systemClock, type Clock, type Timer } from '../../lock/clock.js';
import { processGate, type LookupGate } from './lookup-gate.js';
import { NameServerQuery } from './name-server-query.js';

/** How long the system's look-up is left alone: it knows /etc/hosts and search domains, which name servers do not. */
const HEAD_START_MS = 250;
const LOCALHOST = ['127.0.0.1', '::1'];

export interface Resolution {
  /** Nothing is reported any more. */
  cancel(): void;
}

export interface ResolutionListener {
  onResolved(addresses: readonly string[]): void;
  onUnresolved(cause: Error): void;
}

/** Finds the addresses of a name. Tells the listener once, never before `resolve` has returned. */
export interface NameResolver {
  resolve(host: string, listener: ResolutionListener): Resolution;
}

/** Finds addresses without the system's look-up; see `NameServerQuery`. */
export interface ThreadlessQuery {
  find(host: string, done: (addresses: readonly string[]) => void): void;
  cancel(): void;
}

/** The address, if the host is one or needs no asking: `localhost` is this machine, with or without a name server. */
export function addressesWithoutAsking(host: string): readonly string[] | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (isIP(bare) !== 0) return [bare];
  return bare.toLowerCase() === 'localhost' ? LOCALHOST : undefined;
}

/**
 * Asks the system, one name at a time in the whole process, and the name servers directly when the system is slow or
 * busy. The first that finds something wins.
 */
export class SystemNameResolver implements NameResolver {
  readonly #gate: LookupGate;
  readonly #openQuery: () => ThreadlessQuery;
  readonly #clock: Clock;

  constructor(
    gate: LookupGate = processGate,
    openQuery: () => ThreadlessQuery = () => new NameServerQuery(),
    clock: Clock = systemClock,
  ) {
    this.#gate = gate;
    this.#openQuery = openQuery;
    this.#clock = clock;
  }

  resolve(host: string, listener: ResolutionListener): Resolution {
    return new RacedResolution(host, listener, this.#gate, this.#openQuery, this.#clock);
  }
}

class RacedResolution implements Resolution {
  readonly #host: string;
  readonly #openQuery: () => ThreadlessQuery;
  readonly #cancelLookup: () => void;
  #listener: ResolutionListener | undefined;
  #headStart: Timer | undefined;
  #query: ThreadlessQuery | undefined;
  #lookupError: Error | undefined;

  constructor(
    host: string,
    listener: ResolutionListener,
    gate: LookupGate,
    openQuery: () => ThreadlessQuery,
    clock: Clock,
  ) {
    this.#host = host;
    this.#listener = listener;
    this.#openQuery = openQuery;
    const asked = gate.ask(host, (error, addresses) => this.#onLookup(error, addresses));
    this.#cancelLookup = () => asked.cancel();
    if (asked.waiting) this.#startQuery();
    else this.#headStart = clock.setTimer(HEAD_START_MS, () => this.#startQuery());
  }

  cancel(): void {
    this.#listener = undefined;
    this.#headStart?.cancel();
    this.#cancelLookup();
    this.#query?.cancel();
  }

  #startQuery(): void {
    this.#query = this.#openQuery();
    this.#query.find(this.#host, (addresses) => this.#onQuery(addresses));
  }

  #onQuery(addresses: readonly string[]): void {
    this.#query = undefined;
    if (addresses.length > 0) this.#found(addresses);
    else this.#giveUpIfNobodyIsLeft();
  }

  #onLookup(error: Error | null, addresses: readonly string[]): void {
    if (error === null && addresses.length > 0) return this.#found(addresses);
    this.#lookupError = error ?? new Error(`the name ${this.#host} has no address`);
    this.#giveUpIfNobodyIsLeft();
  }

  #found(addresses: readonly string[]): void {
    const listener = this.#listener;
    this.cancel();
    listener?.onResolved(addresses);
  }

  #giveUpIfNobodyIsLeft(): void {
    if (this.#lookupError === undefined || this.#query !== undefined) return;
    const listener = this.#listener;
    this.cancel();
    listener?.onUnresolved(this.#lookupError);
  }
}
