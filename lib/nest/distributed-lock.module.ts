import { ConfigurableModuleBuilder, type DynamicModule, Module, type Provider } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import type { LockService } from '../engine/lock-service.js';
import type { DistributedLockOptions, ResolvedOptions } from '../options.js';
import { checkConnectionName, checkIsGlobal, checkIsObject, resolveModuleOptions } from './distributed-lock-options.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from './lock-service-token.js';
import { LockedExplorer } from './locked-explorer.js';
import { ManagedLockService } from './managed-lock-service.js';

/** What stands beside the options: it must be known before they are. */
export interface DistributedLockExtras {
  /** Whether every module may inject the lock service without importing this one. @default true */
  readonly isGlobal?: boolean;
  /** Which of several connections this is: `@InjectLock(name)`, `@Locked(path, { name })`. @default 'default' */
  readonly name?: string;
}

/** For `useClass` and `useExisting`. */
export interface DistributedLockOptionsFactory {
  createDistributedLockOptions(): DistributedLockOptions | Promise<DistributedLockOptions>;
}

const RAW_OPTIONS = Symbol('DistributedLockModule options');
const RESOLVED_OPTIONS = Symbol('DistributedLockModule resolved options');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<DistributedLockOptions>({
  moduleName: 'DistributedLock',
  optionsInjectionToken: RAW_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createDistributedLockOptions')
  // Without the transform, extras do nothing.
  .setExtras<DistributedLockExtras>({ isGlobal: true, name: DEFAULT_CONNECTION }, addConnection)
  .build();

/**
 * One connection to ZooKeeper and the locks over it. Import it once in the root module, or once for each connection, each
 * with its `name`. Locks are given back at shutdown; SIGTERM does so only with `app.enableShutdownHooks()`.
 */
@Module({ imports: [DiscoveryModule] })
export class DistributedLockModule extends ConfigurableModuleClass {
  // Nest's own take the options apart before anybody could look at them.
  static override forRoot(options: Parameters<typeof ConfigurableModuleClass.forRoot>[0]): DynamicModule {
    checkIsObject(options, 'DistributedLockModule.forRoot', "{ connect: 'zk1:2181,zk2:2181,zk3:2181' }");
    return super.forRoot(options);
  }

  static override forRootAsync(options: Parameters<typeof ConfigurableModuleClass.forRootAsync>[0]): DynamicModule {
    checkIsObject(options, 'DistributedLockModule.forRootAsync', "{ useFactory: () => ({ connect: '...' }) }");
    return super.forRootAsync(options);
  }
}

function addConnection(definition: DynamicModule, { isGlobal = true, name }: DistributedLockExtras): DynamicModule {
  checkIsGlobal(isGlobal);
  const connection = checkConnectionName(name ?? DEFAULT_CONNECTION);
  const token = getLockServiceToken(connection);
  const providers: Provider[] = [
    {
      provide: RESOLVED_OPTIONS,
      useFactory: (options: DistributedLockOptions) => resolveModuleOptions(connection, options),
      inject: [RAW_OPTIONS],
    },
    {
      provide: token,
      useFactory: (options: ResolvedOptions, discovery: DiscoveryService) =>
        new ManagedLockService(connection, options, () =>
          discovery.getProviders().map(({ instance }: { instance: unknown }) => instance),
        ),
      inject: [RESOLVED_OPTIONS, DiscoveryService],
    },
    {
      provide: LockedExplorer,
      useFactory: (discovery: DiscoveryService, service: LockService, { whenUnavailable }: ResolvedOptions) => {
        const explorer = new LockedExplorer(discovery, service, { name: connection, whenUnavailable });
        explorer.check();
        return explorer;
      },
      inject: [DiscoveryService, token, RESOLVED_OPTIONS],
    },
  ];
  return {
    ...definition,
    global: isGlobal,
    providers: [...(definition.providers ?? []), ...providers],
    exports: [token],
  };
}
