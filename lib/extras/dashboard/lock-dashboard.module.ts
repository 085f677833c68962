import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Logger,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { connectionNamed } from '../../nest/lock-service-token.js';
import { createDoctorBeside } from '../doctor/create-lock-doctor.js';
import {
  DASHBOARD_SETTINGS,
  dashboardSettings,
  type DashboardSettings,
  type LockDashboardOptions,
} from './dashboard-options.js';
import { DoneNotes } from './done-notes.js';
import { LiveLocks } from './live-locks.js';
import { controllerAt } from './lock-dashboard.controller.js';

/**
 * Pages that show the locks of a connection, to whom a guard of the application lets in: all locks, one lock with its queue and its
 * past, who waits for whom. Import it once for each connection, beside `DistributedLockModule`: docs/dashboard.md.
 */
@Module({})
export class LockDashboardModule implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #logger = new Logger(LockDashboardModule.name);

  constructor(
    @Inject(LiveLocks) private readonly locks: LiveLocks,
    @Inject(ModuleRef) private readonly modules: ModuleRef,
    @Inject(DASHBOARD_SETTINGS) private readonly settings: DashboardSettings,
  ) {}

  /**
   * `forRoot({ path: '/locks', guard: OperatorsGuard })`. The locks are those of the application's own connection, with its options, over
   * a session of its own that is opened when somebody looks for the first time.
   * @throws LockConfigurationError where there is no guard, and `unsafe: true` does not say that there shall be none
   */
  static forRoot(options: LockDashboardOptions): DynamicModule {
    const settings = dashboardSettings(options);
    const liveLocks = (modules: ModuleRef): LiveLocks => {
      return new LiveLocks(
        () =>
          createDoctorBeside(
            connectionNamed(modules, settings.connection, 'LockDashboardModule'),
            new Logger('LockDoctor'),
          ),
        settings.scanEveryMs,
      );
    };
    return {
      module: LockDashboardModule,
      imports: settings.imports ?? [],
      controllers: [controllerAt(settings)],
      providers: [
        { provide: DASHBOARD_SETTINGS, useFactory: () => settings },
        { provide: LiveLocks, useFactory: liveLocks, inject: [ModuleRef] },
        { provide: DoneNotes, useFactory: () => new DoneNotes() },
      ],
    };
  }

  /** @throws LockConfigurationError where there is no connection of this name */
  onApplicationBootstrap(): void {
    const { path, unsafe, connection } = this.settings;
    connectionNamed(this.modules, connection, 'LockDashboardModule');
    if (unsafe !== true) return;
    this.#logger.warn(
      `The dashboard at ${path} has no guard (unsafe: true): whoever reaches this server sees all locks, who holds them and where. ` +
        'Give it a guard before anybody else can reach it',
    );
  }

  beforeApplicationShutdown(): void {
    this.locks.endStreams();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.locks.close();
  }
}
