import type { Provider } from '@nestjs/common';
import type { LockService } from '../../engine/lock-service.js';
import { checkConnectionName } from '../../nest/distributed-lock-options.js';
import { getLockServiceToken } from '../../nest/lock-service-token.js';
import { LockTesting } from './lock-testing.js';
import { getLockTestingToken } from './lock-testing-token.js';
import { TestingLockService } from './testing-lock-service.js';
import { type LockTestingOptions, resolveTestingOptions } from './testing-options.js';

/**
 * The lock service and `LockTesting` as bare providers, for a test without modules:
 * `Test.createTestingModule({ providers: [OrdersService, ...provideLockTesting()] })`.
 *
 * What `DistributedLockModule` checks at boot (a `@Fence()` without `@Locked`) is checked by the module alone.
 */
export function provideLockTesting(options: LockTestingOptions = {}): Provider[] {
  const name = checkConnectionName(options.name ?? 'default');
  return [
    { provide: getLockServiceToken(name), useFactory: () => makeLockService(options) },
    {
      provide: getLockTestingToken(name),
      useFactory: (locks: LockService) => LockTesting.of(locks),
      inject: [getLockServiceToken(name)],
    },
  ];
}

/** Made anew for each application, so that tests share nothing. */
export function makeLockService(options: LockTestingOptions): LockService {
  return new TestingLockService(options.name ?? 'default', resolveTestingOptions(options));
}
