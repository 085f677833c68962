import { CANCELLED, TIMEOUT } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type Clock, systemClock } from '../../lock/clock.js';

const LOCALHOST = ['127.0.0.1', '::1'];

/**
 * How long an answer is waited for where addresses are known. Name servers that are away are silent, and a longer wait
 * could use up a whole attempt.
 */
const ANSWERS_WITHIN_MS = 100;

/** Finds the addresses of a name. It rejects as soon as the signal aborts, as nobody waits for the answer any more. */
export interface NameResolver {
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
}

/**
 * The addresses of a host that needs no look-up: an address, or `localhost`, which is this machine even without a name
 * server.
 */
export function addressesWithoutAsking(host: string): readonly string[] | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (isIP(bare) !== 0) return [bare];
  return bare.toLowerCase() === 'localhost' ? LOCALHOST : undefined;
}

interface Memory {
  readonly addresses: readonly string[];
  /**
   * Whether the last attempt did not wait for the answer. The next one does, because a moved name would never be found
   * otherwise.
   */
  wasImpatient: boolean;
}

/**
 * Keeps the last known addresses of each name while nobody can be asked for new ones: servers do not move because name
 * servers are away. A name that is said to have no address has none, because others may have got its addresses.
 */
export class RememberingResolver implements NameResolver {
  readonly #resolver: NameResolver;
  readonly #clock: Clock;
  readonly #memories = new Map<string, Memory>();

  constructor(resolver: NameResolver, clock: Clock = systemClock) {
    this.#resolver = resolver;
    this.#clock = clock;
  }

  resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
    const memory = this.#memories.get(host);
    const answer = this.#ask(host, signal, memory);
    if (memory === undefined) return answer;
    if (memory.wasImpatient) {
      memory.wasImpatient = false;
      return answer;
    }
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(ANSWERS_WITHIN_MS, () => {
        memory.wasImpatient = true;
        resolve(memory.addresses);
      });
      // The look-up goes on after the time is up, and its answer serves the next attempt.
      void answer.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  async #ask(host: string, signal: AbortSignal, memory: Memory | undefined): Promise<readonly string[]> {
    try {
      const addresses = await this.#resolver.resolve(host, signal);
      this.#memories.set(host, { addresses, wasImpatient: false });
      return addresses;
    } catch (error) {
      if (isUnknown(error)) this.#memories.delete(host);
      else if (memory !== undefined) return memory.addresses;
      throw error;
    }
  }
}

function isUnknown(error: unknown): boolean {
  // Node gives this code also for a name without addresses. Every other code says that nobody could be asked.
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOTFOUND';
}

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

/** Resolves when name servers answer at all; what they answer does not matter here. Rejects when they are silent. */
export type NameServersSpeak = (host: string, signal: AbortSignal) => Promise<void>;

/**
 * Resolves when the system's look-up of a name will end soon, because the hosts file lists the name or the name servers
 * answer for it. A look-up of the system can be neither stopped nor left behind by a process that ends, and against
 * silent name servers it takes tens of seconds. This question takes no thread, and is taken back when the signal
 * aborts.
 */
export async function nameServersSpeak(
  host: string,
  signal: AbortSignal,
  client = new Resolver(),
  domains = searchDomains(),
): Promise<void> {
  if (textOf('/etc/hosts').toLowerCase().split(/\s+/).includes(host.toLowerCase())) return;
  const stop = (): void => client.cancel();
  signal.addEventListener('abort', stop, { once: true });
  try {
    // The system may ask for the name with any of the search domains behind it.
    const names = [host, ...domains.map((domain) => `${host}.${domain}`)];
    const questions = names.map((name) => client.resolve4(name));
    const answers = questions.map((question) => question.catch(failOnSilence));
    // The system stops at the first name that exists, and asks for every one where none does.
    await Promise.any([...questions, Promise.all(answers)]);
  } catch (error) {
    throw new Error('the name servers do not answer', { cause: error });
  } finally {
    signal.removeEventListener('abort', stop);
    client.cancel();
  }
}

/** An answer that the name does not exist is an answer, too. */
function failOnSilence(error: NodeJS.ErrnoException): void {
  if (error.code === TIMEOUT || error.code === CANCELLED) throw error;
}

function searchDomains(): string[] {
  const line = /^(?:search|domain)\s(.*)$/m.exec(textOf('/etc/resolv.conf'))?.[1] ?? '';
  return line.split(/\s+/).filter((domain) => domain !== '');
}

function textOf(path: string): string {
  try {
    // The file is read synchronously, without a thread: all threads of the pool may hang in look-ups.
    return readFileSync(path, 'utf8');
  } catch {
    // Other systems have no such file.
    return '';
  }
}
