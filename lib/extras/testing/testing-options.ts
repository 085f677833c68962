import { resolveModuleOptions } from '../../nest/distributed-lock-options.js';
import { DEFAULT_CONNECTION } from '../../nest/lock-service-token.js';
import type { DistributedLockOptions, ResolvedOptions } from '../../options.js';

/**
 * Every option of the module, so that a test may pass what the application passes. Where it connects is not asked:
 * `connect` and `serverTickMs` are this module's own, and there is nobody to keep out: `acl` and `tls` do not count.
 */
export interface LockTestingOptions extends Partial<DistributedLockOptions> {
  /** As in `DistributedLockModule.forRoot`. @default 'default' */
  readonly name?: string;
  /**
   * How long the application waits for a busy lock, in milliseconds: well within the time that a test may take.
   * @default 1000
   */
  readonly waitMs?: number;
  /**
   * How long a lock outlives a suspended connection, about, in milliseconds. A small one lets a test wait for that
   * (`suspend()`, `untilState('lost')`); the default outlives every pause of a busy test machine.
   * @default 10000
   */
  readonly sessionTimeoutMs?: number;
}

const WAIT_MS = 1_000;
const SESSION_TIMEOUT_MS = 10_000;
/** Certainty is computed in ticks of the server's; a session has to last for several. */
const TICKS_PER_SESSION = 5;

/** Somebody else is to stand in the same queues, credentials or none. */
const ANYONE: ResolvedOptions['acl'] = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

/** What the lock service of one application under test is opened with. Its ensemble is handed in: the name does not count. */
export function resolveTestingOptions({ name = DEFAULT_CONNECTION, ...options }: LockTestingOptions): ResolvedOptions {
  const { sessionTimeoutMs = SESSION_TIMEOUT_MS, waitMs = WAIT_MS } = options;
  return resolveModuleOptions(name, {
    ...options,
    connect: 'memory:',
    // Where tests are run, NODE_ENV may be what it is in production: nobody takes this module for the other by accident.
    memory: { allowInProduction: true },
    sessionTimeoutMs,
    serverTickMs: Math.max(1, Math.floor(sessionTimeoutMs / TICKS_PER_SESSION)),
    waitMs,
    acl: ANYONE,
  });
}
