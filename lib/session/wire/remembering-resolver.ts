import { type Clock, systemClock } from '../../lock/clock.js';
import type { NameResolver } from './resolve.js';

/** A look-up that takes longer than this may take longer than a whole attempt: name servers that are away are silent. */
const ANSWERS_WITHIN_MS = 100;

interface Memory {
  readonly addresses: readonly string[];
  /** The last attempt did not wait for the answer; this one does, or a name that has moved would never be found. */
  wasImpatient: boolean;
}

/**
 * Keeps the addresses that each name had last, for as long as nobody can be asked for new ones: servers do not move
 * because name servers are away. A name that is said to have no address has none: others may have got its addresses.
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

/** Node says so of a name without addresses, too; everything else says that nobody could be asked. */
function isUnknown(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOTFOUND';
}
