import { LockConfigurationError } from '../../lock/errors.js';
import { type Fence, tokenToCompare } from '../fence.js';
import { staleToken } from '../refusals.js';
import { isStale } from '../token.js';

/**
 * Where the highest token of each resource is kept: one of the durable stores of this package, shared by all instances of
 * the service, or anything else that keeps the same rule.
 */
export interface FencingMarks {
  /**
   * Raises the mark of the resource to this token, durably, before it resolves. The same token may come again.
   * @throws StaleFencingTokenError when a higher one was seen
   */
  claim(resource: string, fence: Fence): Promise<void>;
  /**
   * Makes sure that the marks can be kept. The boot waits for it, and fails with its error. That of a `RedisFence` refuses a
   * Redis that may forget what it acknowledged. To use such a Redis all the same, leave `check` out:
   * `{ claim: (resource, fence) => redis.claim(resource, fence) }`.
   */
  check?(): Promise<void>;
}

/** Marks for the tests of an application: they are gone with the process, and no other instance sees them. */
export class MemoryFencingMarks implements FencingMarks {
  readonly #highest = new Map<string, bigint>();

  /** @throws LockConfigurationError outside tests */
  constructor() {
    if (process.env['NODE_ENV'] === 'test') return;
    throw new LockConfigurationError(
      "MemoryFencingMarks is for tests, where NODE_ENV is 'test': marks in memory are forgotten at a restart and are not " +
        'seen by other instances, so stale callers would be let in. Keep them in FencedFileStore, PostgresFence or RedisFence',
    );
  }

  async claim(resource: string, fence: Fence): Promise<void> {
    const token = await tokenToCompare(fence, resource, {});
    const highest = this.#highest.get(resource) ?? 0n;
    if (isStale(token, highest)) throw staleToken(resource, token, highest);
    this.#highest.set(resource, token);
  }
}
