import { isIP } from 'node:net';
import { processGate, type LookupGate } from './lookup-gate.js';
import { NameServerQuery } from './name-server-query.js';

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

/** What the name servers said: addresses, nothing, or not even that they know none. */
export type QueryEnd = (addresses: readonly string[], wereSilent: boolean) => void;

/** Finds addresses without the system's look-up; see `NameServerQuery`. */
export interface ThreadlessQuery {
  find(host: string, done: QueryEnd): void;
  cancel(): void;
}

/** The address, if the host is one or needs no asking: `localhost` is this machine, with or without a name server. */
export function addressesWithoutAsking(host: string): readonly string[] | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (isIP(bare) !== 0) return [bare];
  return bare.toLowerCase() === 'localhost' ? LOCALHOST : undefined;
}

/**
 * Asks the hosts file and the name servers, without a thread and so that it can be stopped; and only for a name that they
 * do not know the system, which may have other sources, one name at a time in the whole process. A system's look-up
 * that hangs holds a thread of the pool, and the process itself, for as long as it likes: it is not asked where the name
 * servers are silent, as it would wait for the same ones.
 */
export class SystemNameResolver implements NameResolver {
  readonly #gate: LookupGate;
  readonly #openQuery: () => ThreadlessQuery;

  constructor(gate: LookupGate = processGate, openQuery: () => ThreadlessQuery = () => new NameServerQuery()) {
    this.#gate = gate;
    this.#openQuery = openQuery;
  }

  resolve(host: string, listener: ResolutionListener): Resolution {
    return new SteppedResolution(host, listener, this.#gate, this.#openQuery());
  }
}

class SteppedResolution implements Resolution {
  readonly #host: string;
  readonly #gate: LookupGate;
  readonly #query: ThreadlessQuery;
  #listener: ResolutionListener | undefined;
  #cancelLookup: () => void = () => undefined;

  constructor(host: string, listener: ResolutionListener, gate: LookupGate, query: ThreadlessQuery) {
    this.#host = host;
    this.#listener = listener;
    this.#gate = gate;
    this.#query = query;
    query.find(host, (addresses, wereSilent) => this.#onQuery(addresses, wereSilent));
  }

  cancel(): void {
    this.#listener = undefined;
    this.#query.cancel();
    this.#cancelLookup();
  }

  #onQuery(addresses: readonly string[], wereSilent: boolean): void {
    if (this.#listener === undefined) return;
    if (addresses.length > 0) this.#listener.onResolved(addresses);
    else if (wereSilent) this.#listener.onUnresolved(new Error('the name servers do not answer'));
    else {
      const asked = this.#gate.ask(this.#host, (error, found) => this.#onLookup(error, found));
      this.#cancelLookup = () => asked.cancel();
    }
  }

  #onLookup(error: Error | null, addresses: readonly string[]): void {
    if (this.#listener === undefined) return;
    if (error === null && addresses.length > 0) this.#listener.onResolved(addresses);
    else this.#listener.onUnresolved(error ?? new Error(`the name ${this.#host} has no address`));
  }
}
