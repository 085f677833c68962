import type { Provider } from '@nestjs/common';
import type { LockService } from '../../engine/lock-service.js';
import { checkConnectionName } from '../../nest/distributed-lock-options.js';
import { getLockServiceToken } from '../../nest/lock-service-token.js';
import { LockTesting } from './lock-testing.js';
import { getLockTestingToken } from './lock-testing-token.js';
import { TestingLockService } from './testing-lock-service.js';
import { type LockTestingOptions, resolveTestingOptions } from './testing-options.js';

/**
 * The lock service and `LockTesting` as bare providers, for a test without modules: `Test.createTestingModule({
 * providers: [OrdersService, ...provideLockTesting()] })`.
 *
 * Only the module makes the checks of `DistributedLockModule` at boot, such as a `@Fence()` without `@Locked`.
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

/** Makes a new lock service for each application, so that tests share nothing. */
export function makeLockService(options: LockTestingOptions): LockService {
  return new TestingLockService(options.name ?? 'default', resolveTestingOptions(options));
}
