import { LockConfigurationError } from '../../lock/errors.js';
import { resolveOptions } from '../../open.js';
import type { DistributedLockOptions, ResolvedOptions } from '../../options.js';

/** The options of one client's locks, as `DistributedLockModule.forRoot` and `createLockService` take them. */
export type SimulatedClientOptions = Pick<
  DistributedLockOptions,
  | 'sessionTimeoutMs'
  | 'namespace'
  | 'auth'
  | 'acl'
  | 'waitMs'
  | 'maxWaiting'
  | 'connectTimeoutMs'
  | 'shutdownGraceMs'
  | 'onSuspended'
  | 'whenUnavailable'
  | 'lockDelayMs'
>;

/** The options that the simulator sets itself. */
const SET_BY_SIMULATOR = ['connect', 'memory', 'tls', 'startup', 'serverTickMs'];

/** @throws LockConfigurationError that names the client, the option and what was expected */
export function resolveClientOptions(name: string, options: SimulatedClientOptions, tickMs: number): ResolvedOptions {
  const where = `LockSimulator: client '${name}'`;
  if (typeof options !== 'object' || (options as unknown) === null) {
    throw new LockConfigurationError(`${where}: the options must be an object such as { waitMs: 1_000 }`);
  }
  const misplaced = SET_BY_SIMULATOR.find((option) => option in options);
  if (misplaced !== undefined) {
    throw new LockConfigurationError(
      `${where}: ${misplaced}: is not an option here, as the simulator itself is the server`,
    );
  }
  try {
    return resolveOptions({
      ...options,
      connect: 'memory:',
      memory: { allowInProduction: true },
      serverTickMs: tickMs,
    });
  } catch (error) {
    if (!(error instanceof LockConfigurationError)) throw error;
    throw new LockConfigurationError(`${where}: ${error.details}`, undefined, { cause: error });
  }
}
