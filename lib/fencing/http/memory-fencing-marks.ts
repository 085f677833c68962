import { LockConfigurationError } from '../../lock/errors.js';
import { type Fence, tokenToCompare } from '../fence.js';
import { staleToken } from '../refusals.js';
import { isStale } from '../rule.js';
import type { FencingMarks } from './fencing-marks.js';

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
