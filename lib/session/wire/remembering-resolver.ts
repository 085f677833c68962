import { type Clock, systemClock } from '../../lock/clock.js';
import type { NameResolver } from './resolve.js';

/**
 * How long an answer is waited for where addresses are known. Name servers that are away are silent, and a longer wait
 * could use up a whole attempt.
 */
const ANSWERS_WITHIN_MS = 100;

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
