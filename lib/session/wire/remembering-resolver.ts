import { type Clock, systemClock, type Timer } from '../../lock/clock.js';
import type { NameResolver, Resolution, ResolutionListener } from './resolve.js';

/** A look-up that takes longer than this may take longer than a whole attempt: name servers that are away are silent. */
const ANSWERS_WITHIN_MS = 100;
/** What says that a name has no address any more, other than that nobody can be asked. */
const DEFINITE: readonly unknown[] = ['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA'];

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

  resolve(host: string, listener: ResolutionListener): Resolution {
    const memory = this.#memories.get(host);
    let timer: Timer | undefined;
    const resolution = this.#resolver.resolve(host, {
      onResolved: (addresses) => {
        timer?.cancel();
        this.#memories.set(host, { addresses, wasImpatient: false });
        listener.onResolved(addresses);
      },
      onUnresolved: (cause) => {
        timer?.cancel();
        if (isDefinite(cause)) this.#memories.delete(host);
        if (memory === undefined || isDefinite(cause)) listener.onUnresolved(cause);
        else listener.onResolved(memory.addresses);
      },
    });
    if (memory !== undefined && !memory.wasImpatient) {
      timer = this.#clock.setTimer(ANSWERS_WITHIN_MS, () => {
        memory.wasImpatient = true;
        resolution.cancel();
        listener.onResolved(memory.addresses);
      });
    } else if (memory !== undefined) memory.wasImpatient = false;
    return {
      cancel: () => {
        timer?.cancel();
        resolution.cancel();
      },
    };
  }
}

function isDefinite(cause: Error): boolean {
  return 'code' in cause && DEFINITE.includes(cause.code);
}
