import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type Clock, systemClock } from '../../lock/clock.js';
import { orAborted } from '../or-aborted.js';
import { nameServersSpeak } from './name-servers.js';

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

/** Resolves when the system's look-up of the name may begin, and rejects when it would hang or nobody waits for it. */
export type NameServersSpeak = (host: string, signal: AbortSignal) => Promise<void>;

interface Lookup {
  readonly host: string;
  readonly answer: Promise<readonly string[]>;
}

/**
 * Asks the system (getaddrinfo) for one name at a time. Only the system knows what all the sources are that
 * nsswitch.conf names. A look-up begins only while a caller waits for it and the name servers answer. Callers that ask
 * for the same name share its answer.
 */
export class LookupGate implements NameResolver {
  readonly #lookup: SystemLookup;
  readonly #speak: NameServersSpeak;
  #underWay: Lookup | undefined;

  constructor(systemLookup: SystemLookup, speak: NameServersSpeak) {
    this.#lookup = systemLookup;
    this.#speak = speak;
  }

  async resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
    // A look-up that hangs keeps the process from ending, and holds one of the two threads that libuv has for all
    // look-ups of the process, so it must not begin while the name servers are silent.
    await this.#speak(host, signal);
    while (this.#underWay !== undefined && this.#underWay.host !== host) {
      // A caller that has waited for longer begins the next look-up, so this one may have to wait again.
      const ended = this.#underWay.answer.catch(() => undefined);
      await orAborted(ended, signal);
    }
    signal.throwIfAborted();
    this.#underWay ??= this.#begin(host);
    return orAborted(this.#underWay.answer, signal);
  }

  #begin(host: string): Lookup {
    const answer = this.#lookup(host).finally(() => (this.#underWay = undefined));
    return { host, answer };
  }
}

/** The process has one thread pool, so it has one gate. */
export const processGate = new LookupGate(async (host) => {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}, nameServersSpeak);
