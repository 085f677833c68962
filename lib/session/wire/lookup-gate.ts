import { lookup, type LookupAddress } from 'node:dns';

export type LookupCallback = (error: Error | null, addresses: readonly string[]) => void;
/** `dns.lookup`, as far as it is needed here. */
export type SystemLookup = (host: string, done: LookupCallback) => void;

interface Asked {
  /** Whether the system is being asked already, so that the answer may be long in coming. */
  readonly waiting: boolean;
  cancel(): void;
}

/**
 * Lets one name at a time through to the system's look-up (getaddrinfo). That call holds one of the few threads that
 * files, compression and every other look-up of the process share, and cannot be taken back: against a dead name server
 * it takes tens of seconds. Those who ask for the same name share one answer.
 */
export class LookupGate {
  readonly #lookup: SystemLookup;
  /** In order of asking; the first is the one under way. */
  readonly #callbacks = new Map<string, Set<LookupCallback>>();
  #current: string | undefined;

  constructor(systemLookup: SystemLookup) {
    this.#lookup = systemLookup;
  }

  ask(host: string, callback: LookupCallback): Asked {
    const waiting = this.#current !== undefined;
    const callbacks = this.#callbacks.get(host) ?? new Set();
    callbacks.add(callback);
    this.#callbacks.set(host, callbacks);
    this.#next();
    return { waiting, cancel: () => this.#cancel(host, callback) };
  }

  #cancel(host: string, callback: LookupCallback): void {
    const callbacks = this.#callbacks.get(host);
    callbacks?.delete(callback);
    if (callbacks?.size === 0 && host !== this.#current) this.#callbacks.delete(host);
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const [host] = this.#callbacks.keys();
    if (host === undefined) return;
    this.#current = host;
    this.#lookup(host, (error, addresses) => this.#answered(host, error, addresses));
  }

  #answered(host: string, error: Error | null, addresses: readonly string[]): void {
    const callbacks = this.#callbacks.get(host) ?? [];
    this.#callbacks.delete(host);
    this.#current = undefined;
    this.#next();
    for (const callback of [...callbacks]) callback(error, addresses);
  }
}

/** The process has one thread pool, so it has one gate. */
export const processGate = new LookupGate((host, done) => {
  lookup(host, { all: true, verbatim: true }, (error: Error | null, found: LookupAddress[] | undefined) => {
    done(
      error,
      (found ?? []).map((entry) => entry.address),
    );
  });
});
