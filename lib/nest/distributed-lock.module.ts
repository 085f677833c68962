import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Module,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { checkIsObject, refuse } from '../lock/option-rules.js';
import type { DistributedLockOptions } from '../options.js';
import {
  checkConnectionName,
  checkHasOneFactory,
  checkIsGlobal,
  CONNECT_EXAMPLE,
  resolveModuleOptions,
} from './distributed-lock-options.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from './lock-service-token.js';
import { IdleConnections } from './idle-connections.js';
import { LockedExplorer, lockedExplorer } from './locked-explorer.js';
import { ManagedLockService } from './managed-lock-service.js';

/** What stands beside the options, as Nest must know it before it has them. */
export interface DistributedLockExtras {
  /** Whether every module may inject the lock service without importing this one. @default true */
  readonly isGlobal?: boolean;
  /** Which of several connections this is: `@InjectLock(name)`, `@Locked(path, { name })`. @default 'default' */
  readonly name?: string;
}

/** For `useClass` and `useExisting`. */
export interface DistributedLockOptionsFactory {
  /** The options, as `forRoot` takes them; asked for once, when the application starts. */
  createDistributedLockOptions(): DistributedLockOptions | Promise<DistributedLockOptions>;
}

/** One of `useFactory`, `useClass` and `useExisting`, which makes the options; `name` and `isGlobal` stand beside it. */
export type DistributedLockAsyncOptions = ConfigurableModuleAsyncOptions<
  DistributedLockOptions,
  'createDistributedLockOptions'
> &
  DistributedLockExtras;

const RAW_OPTIONS = Symbol('DistributedLockModule options');

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
 * with its `name`. Locks are released at shutdown; SIGTERM does so only with `app.enableShutdownHooks()`.
 */
@Module({ imports: [DiscoveryModule], providers: [IdleConnections] })
export class DistributedLockModule extends ConfigurableModuleClass implements OnModuleInit {
  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {
    super();
  }

  /** Refuses a factory that depends on the request. */
  onModuleInit(): void {
    const perRequest = this.discovery
      .getProviders()
      .find((one) => one.token === LockedExplorer && !one.isDependencyTreeStatic());
    if (perRequest === undefined) return;
    // Nest would open a session for each request, and close none.
    refuse(
      'DistributedLockModule.forRootAsync: the factory of the options depends on the request (it injects REQUEST, or a provider ' +
        'that does). A connection lives as long as the application: choose by request among several, each with its name',
    );
  }

  /**
   * One connection to ZooKeeper, with options that are known now: `forRoot({ connect: 'zk1:2181,zk2:2181,zk3:2181' })`.
   * Every module may then inject `LockService`; without ZooKeeper the application does not start (`startup`).
   * @throws LockConfigurationError, when the application starts, for an option that makes no sense or that there is not
   */
  static override forRoot(options: DistributedLockOptions & DistributedLockExtras): DynamicModule {
    // Nest's own `forRoot` takes the options apart, and fails with a text of its own where they are no object.
    checkIsObject('DistributedLockModule.forRoot: the options', options, CONNECT_EXAMPLE);
    return super.forRoot(options);
  }

  /**
   * As `forRoot`, with options that other providers know: `forRootAsync({ inject: [Settings], useFactory: (settings: Settings)
   * => ({ connect: settings.zookeeper }) })`.
   * @throws LockConfigurationError as `forRoot` does
   */
  static override forRootAsync(options: DistributedLockAsyncOptions): DynamicModule {
    checkHasOneFactory(options);
    return super.forRootAsync(options);
  }
}

function addConnection(definition: DynamicModule, { isGlobal = true, name }: DistributedLockExtras): DynamicModule {
  checkIsGlobal(isGlobal);
  const connectionName = checkConnectionName(name);
  const token = getLockServiceToken(connectionName);
  const connection: FactoryProvider = {
    provide: token,
    useFactory: (tellOptions: () => DistributedLockOptions, discovery: DiscoveryService) =>
      new ManagedLockService(connectionName, resolveModuleOptions(connectionName, tellOptions()), () =>
        discovery.getProviders().map(({ instance }: { instance: unknown }) => instance),
      ),
    inject: [RAW_OPTIONS, DiscoveryService],
  };
  const explorer = lockedExplorer(connectionName, (one) => one.check());
  return {
    ...definition,
    global: isGlobal,
    providers: [...(definition.providers ?? []).map(hidden), connection, explorer],
    exports: [token],
  };
}

/** The options with the credentials in them, behind a function. */
function hidden(provider: Provider): Provider {
  if (typeof provider === 'function' || provider.provide !== RAW_OPTIONS) return provider;
  // Where the module or Nest's container is printed, a function shows nothing of what it returns.
  if ('useValue' in provider) {
    const options: unknown = provider.useValue;
    return { provide: RAW_OPTIONS, useFactory: () => () => options };
  }
  if (!('useFactory' in provider)) return provider;
  const make = async (...injected: unknown[]): Promise<() => unknown> => {
    const options: unknown = await provider.useFactory(...injected);
    return () => options;
  };
  return { ...provider, useFactory: make };
}
