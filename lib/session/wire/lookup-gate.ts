import { lookup } from 'node:dns/promises';
import { nameServersSpeak, type NameServersSpeak } from './name-servers.js';
import type { NameResolver } from './resolve.js';

/** `dns.lookup`, as far as it is needed here. */
export type SystemLookup = (host: string) => Promise<readonly string[]>;

interface Asked {
  readonly answer: Promise<readonly string[]>;
  readonly signals: Set<AbortSignal>;
}

/**
 * Asks the system (getaddrinfo) for one name at a time. Only the system knows the hosts file, the search domains and
 * whatever else nsswitch.conf names. A look-up begins only while a caller waits for it and the name servers answer.
 * Callers that ask for the same name share one answer.
 */
export class LookupGate implements NameResolver {
  readonly #lookup: SystemLookup;
  readonly #speak: NameServersSpeak;
  readonly #asked = new Map<string, Asked>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(systemLookup: SystemLookup, speak: NameServersSpeak) {
    this.#lookup = systemLookup;
    this.#speak = speak;
  }

  async resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
    // A look-up holds one of the few threads that files, compression and every other look-up of the process share, so
    // it must not begin while the name servers are silent.
    await this.#speak(host, signal);
    signal.throwIfAborted();
    const { answer, signals } = this.#asked.get(host) ?? this.#ask(host);
    signals.add(signal);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signals.delete(signal);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      void answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  }

  #ask(host: string): Asked {
    const signals = new Set<AbortSignal>();
    const answer = this.#turn.then(async () => {
      try {
        // A look-up whose callers have all left is not begun.
        return signals.size === 0 ? [] : await this.#lookup(host);
      } finally {
        this.#asked.delete(host);
      }
    });
    this.#turn = answer.catch(() => undefined);
    const asked = { answer, signals };
    this.#asked.set(host, asked);
    return asked;
  }
}

/** The process has one thread pool, so it has one gate. */
export const processGate = new LookupGate(async (host) => {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}, nameServersSpeak);
