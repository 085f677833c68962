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
   * Whether the marks can be kept: awaited at boot, which ends with what this throws. A `RedisFence` has it, and refuses a
   * Redis that may forget what it acknowledged. Who takes such a one for good enough leaves it out:
   * `{ claim: (resource, fence) => redis.claim(resource, fence) }`.
   */
  check?(): Promise<void>;
}
