import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import type { LockService } from '../../engine/lock-service.js';
import { checkIsGlobal } from '../../nest/distributed-lock-options.js';
import { getLockServiceToken } from '../../nest/lock-service-token.js';
import { LockedExplorer } from '../../nest/locked-explorer.js';
import { getLockTestingToken } from './lock-testing-token.js';
import { provideLockTesting } from './provide-lock-testing.js';
import type { LockTestingOptions } from './testing-options.js';

/**
 * Replaces `DistributedLockModule.forRoot(...)` in tests: the same lock service, over a server in memory that each
 * application has to itself. `module.get(LockTesting)` makes things go wrong.
 */
@Module({})
export class DistributedLockTestingModule {
  static forRoot(options: LockTestingOptions & { readonly isGlobal?: boolean } = {}): DynamicModule {
    const { isGlobal = true, ...lockOptions } = options;
    checkIsGlobal(isGlobal);
    const { name = 'default' } = lockOptions;
    const locks = getLockServiceToken(name);
    return {
      module: DistributedLockTestingModule,
      global: isGlobal,
      imports: [DiscoveryModule],
      providers: [
        ...provideLockTesting(lockOptions),
        {
          provide: LockedExplorer,
          useFactory: (discovery: DiscoveryService, service: LockService) =>
            new LockedExplorer(discovery, service, name),
          inject: [DiscoveryService, locks],
        },
      ],
      exports: [locks, getLockTestingToken(name)],
    };
  }
}
