import { type DynamicModule, Inject, type InjectionToken, Module, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { LockService } from '../../engine/lock-service.js';
import { checkConnectionName, checkIsGlobal } from '../../nest/distributed-lock-options.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from '../../nest/lock-service-token.js';
import { lockedExplorer } from '../../nest/locked-explorer.js';
import { refuseMissingParentheses } from '../../nest/metadata.js';
import { LockTesting } from './lock-testing.js';
import { type LockTestingOptions, resolveTestingOptions, TestingLockService } from './testing-lock-service.js';

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
      providers: [...provideLockTesting(lockOptions), lockedExplorer(name)],
      exports: [locks, getLockTestingToken(name)],
    };
  }
}

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
function makeLockService(options: LockTestingOptions): LockService {
  return new TestingLockService(options.name ?? 'default', resolveTestingOptions(options));
}

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

/**
 * For `module.get(getLockTestingToken('orders'))`. The token of the default connection is the class `LockTesting`
 * itself.
 */
export function getLockTestingToken(name: string = DEFAULT_CONNECTION): InjectionToken<LockTesting> {
  return name === DEFAULT_CONNECTION ? LockTesting : `LockTesting(${name})`;
}

const NO_NAME =
  "it would inject nothing. Write @InjectLockTesting(), or @InjectLockTesting('orders') for a connection with that name";

/** Injects the `LockTesting` of a named connection. */
export function InjectLockTesting(name?: string): ParameterDecorator & PropertyDecorator;
export function InjectLockTesting(
  name: string = DEFAULT_CONNECTION,
  ...bare: unknown[]
): ParameterDecorator & PropertyDecorator {
  refuseMissingParentheses('@InjectLockTesting', [name, ...bare], NO_NAME);
  return Inject(getLockTestingToken(name));
}
