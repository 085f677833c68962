import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { DistributedLockModule, LockExceptionFilter } from 'nestjs-zookeeper-lock';
import { LockDashboardModule } from 'nestjs-zookeeper-lock/dashboard';
import { LockHealthModule } from 'nestjs-zookeeper-lock/terminus';
import { FileStoreEnd, fileStore } from './files/file-store.js';
import { FilesController } from './files/files.controller.js';
import { HealthController } from './health/health.controller.js';
import { InventoryController } from './inventory/inventory.controller.js';
import { InventoryService } from './inventory/inventory.service.js';
import { JobsController } from './jobs/jobs.controller.js';
import { SweepJob } from './jobs/sweep.job.js';
import { LedgersController } from './ledgers/ledgers.controller.js';
import { LedgersService } from './ledgers/ledgers.service.js';
import { EventsController } from './locks/events.controller.js';
import { LocksController } from './locks/locks.controller.js';
import { OperatorsController } from './operators/operators.controller.js';
import { operatorIn, OperatorsGuard } from './operators/operators.guard.js';
import { OperatorsService } from './operators/operators.service.js';
import { PageController } from './page/page.controller.js';
import { SETTINGS, type Settings } from './settings.js';

@Module({})
export class AppModule {
  static with(settings: Settings): DynamicModule {
    const { connect, waitMs, sessionTimeoutMs, serverTickMs } = settings;
    return {
      module: AppModule,
      imports: [
        DistributedLockModule.forRoot({ connect, waitMs, sessionTimeoutMs, serverTickMs }),
        LockHealthModule,
        LockDashboardModule.forRoot({
          path: '/dashboard',
          guard: new OperatorsGuard(settings.operatorPassword),
          mayOperate: () => true,
          operatorOf: operatorIn,
        }),
        ScheduleModule.forRoot(),
      ],
      controllers: [
        PageController,
        FilesController,
        InventoryController,
        LedgersController,
        JobsController,
        LocksController,
        EventsController,
        OperatorsController,
        HealthController,
      ],
      providers: [
        { provide: SETTINGS, useValue: settings },
        { provide: APP_FILTER, useValue: new LockExceptionFilter() },
        fileStore,
        FileStoreEnd,
        InventoryService,
        LedgersService,
        OperatorsService,
        SweepJob,
      ],
    };
  }
}
