import type { InjectionToken } from '@nestjs/common';
import { checkConnectionName } from '../../nest/distributed-lock-options.js';
import { getLockServiceToken } from '../../nest/lock-service-token.js';
import { makeLockService } from './provide-lock-testing.js';
import type { LockTestingOptions } from './testing-options.js';

/** The builder that `Test.createTestingModule(...)` returns. */
export interface OverridableBuilder {
  overrideProvider(token: InjectionToken): { useFactory(options: { factory: () => unknown }): unknown };
}

/**
 * Replaces the locks in a test of a whole root module, `DistributedLockModule.forRoot(...)` included:
 * `overrideLocks(Test.createTestingModule({ imports: [AppModule] }))`. The application's own options do not count, and
 * its ZooKeeper is not asked. `LockTesting.of(module.get(LockService))` has the controls.
 */
export function overrideLocks<Builder extends OverridableBuilder>(
  builder: Builder,
  options: LockTestingOptions = {},
): Builder {
  const name = checkConnectionName(options.name ?? 'default');
  builder.overrideProvider(getLockServiceToken(name)).useFactory({ factory: () => makeLockService(options) });
  return builder;
}
