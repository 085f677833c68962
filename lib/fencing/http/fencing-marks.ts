import type { Fence } from '../fence.js';

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
