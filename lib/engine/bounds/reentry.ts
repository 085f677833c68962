import type { AcquireOptions } from '../../lock/acquire-options.js';
import { LockConfigurationError } from '../../lock/errors.js';
import { covers, type LockMode } from '../../lock/mode.js';
import { type OwnedHold, ownedLocks, type OwnedLock } from './owner-context.js';

/**
 * The lock that the caller has around it already, if it gives the rights that are asked for.
 * @throws LockConfigurationError where the call would wait for itself
 */
export function findReentry<H extends OwnedHold>(
  service: object,
  key: string,
  mode: LockMode,
  { reentrant = true }: Pick<AcquireOptions, 'reentrant'>,
): OwnedLock<H> | undefined {
  for (const owned of ownedLocks()) {
    if (owned.service !== service || owned.handle.key !== key) continue;
    if (!reentrant) {
      throw new LockConfigurationError(
        `${key} is already held by this same call (${owned.hold.takenBy}), and reentrant: false does not let it be shared: it ` +
          'would wait for itself',
        key,
      );
    }
    // The locks of a service are all of its own kind.
    if (covers(owned.hold.mode, mode)) return owned as OwnedLock as OwnedLock<H>;
    const advice =
      owned.hold.mode === 'upgradeable'
        ? 'call upgrade() on the handle instead'
        : "acquire it with mode 'upgradeable' in the first place, and call upgrade() on the handle";
    throw new LockConfigurationError(
      `${key} is already held as ${owned.hold.mode} by this same call (${owned.hold.takenBy}), which now asks for ${mode}: it would ` +
        `wait for itself; ${advice}`,
      key,
    );
  }
  return undefined;
}
