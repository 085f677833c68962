import type { Judge } from './judge.js';
import type { Grant } from './grants.js';

/**
 * What the locks protect: refuses a token that is smaller than one it has seen. So a holder that slept through its loss
 * does no harm, and nobody who holds is ever refused.
 */
export class FencedStore {
  readonly #judge: Judge;
  readonly #highest = new Map<string, { readonly token: bigint; readonly path: string }>();

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  /**
   * A write that arrives.
   * @param isExcused its node was removed behind its back: that it is refused is what tokens are for
   * @returns whether it was accepted
   */
  write(grant: Grant, isExcused: boolean): boolean {
    const { key, token, path } = grant;
    const last = this.#highest.get(key);
    if (last !== undefined && (token < last.token || (token === last.token && path !== last.path))) {
      if (!isExcused && grant.isHeldNow()) {
        this.#judge.blame(
          'tokens rise',
          `the store refused ${grant.name}, who holds, because of ${last.path} (${last.token})`,
        );
      }
      return false;
    }
    this.#highest.set(key, { token, path });
    return true;
  }
}
