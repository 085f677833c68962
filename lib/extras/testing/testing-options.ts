import { resolveModuleOptions } from '../../nest/distributed-lock-options.js';
import { DEFAULT_CONNECTION } from '../../nest/lock-service-token.js';
import type { DistributedLockOptions, ResolvedOptions } from '../../options.js';

/**
 * Every option of the module, so that a test may pass the application's own options. Those for the connection do not
 * count: this module sets `connect` and `serverTickMs` itself, and needs no `acl` or `tls`.
 */
export interface LockTestingOptions extends Partial<DistributedLockOptions> {
  /** The name of the connection, as in `DistributedLockModule.forRoot`. @default 'default' */
  readonly name?: string;
  /**
   * How long the application waits for a busy lock, in milliseconds: well within a test's time limit.
   * @default 1000
   */
  readonly waitMs?: number;
  /**
   * About how long a lock outlives a suspended connection, in milliseconds. With a small value a test can wait for the
   * loss (`suspend()`, `untilState('lost')`). The default outlives every pause of a busy test machine.
   * @default 10000
   */
  readonly sessionTimeoutMs?: number;
}

const WAIT_MS = 1_000;
const SESSION_TIMEOUT_MS = 10_000;
/** Certainty is computed in the server's ticks, so a session has to last for several. */
const TICKS_PER_SESSION = 5;

/** The other process of `LockTesting` must be able to join the same queues, with or without credentials. */
const ANYONE: ResolvedOptions['acl'] = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

/**
 * The options of an application's lock service under test. Its ensemble is passed separately, so its name in memory
 * does not count.
 */
export function resolveTestingOptions({ name = DEFAULT_CONNECTION, ...options }: LockTestingOptions): ResolvedOptions {
  const { sessionTimeoutMs = SESSION_TIMEOUT_MS, waitMs = WAIT_MS } = options;
  return resolveModuleOptions(name, {
    ...options,
    connect: 'memory:',
    // Tests may run with the NODE_ENV of production. Nobody uses this module by accident.
    memory: { allowInProduction: true },
    sessionTimeoutMs,
    serverTickMs: Math.max(1, Math.floor(sessionTimeoutMs / TICKS_PER_SESSION)),
    waitMs,
    acl: ANYONE,
  });
}
