import type { AcquireOptions } from '../../lock/acquire-options.js';
import { LockConfigurationError } from '../../lock/errors.js';
import { covers, type LockMode } from '../../lock/mode.js';
import { takenBy } from '../acquire/holder-in-front.js';
import { ownedLocks, type OwnedLock } from './owner-context.js';

/**
 * The lock that the caller has around it already, if it gives the rights that are asked for.
 * @throws LockConfigurationError where the call would wait for itself
 */
export function findReentry(
  service: object,
  key: string,
  mode: LockMode,
  { reentrant = true }: Pick<AcquireOptions, 'reentrant'>,
): OwnedLock | undefined {
  for (const owned of ownedLocks()) {
    if (owned.service !== service || owned.handle.key !== key) continue;
    if (!reentrant) {
      throw new LockConfigurationError(
        `${key} is already held by this same call (${takenBy(owned.hold)}), and reentrant: false does not let it be shared: it ` +
          'would wait for itself',
        key,
      );
    }
    if (covers(owned.hold.mode, mode)) return owned;
    const advice =
      owned.hold.mode === 'upgradeable'
        ? 'call upgrade() on the handle instead'
        : "acquire it with mode 'upgradeable' in the first place, and call upgrade() on the handle";
    throw new LockConfigurationError(
      `${key} is already held as ${owned.hold.mode} by this same call (${takenBy(owned.hold)}), which now asks for ${mode}: it would ` +
        `wait for itself; ${advice}`,
      key,
    );
  }
  return undefined;
}
