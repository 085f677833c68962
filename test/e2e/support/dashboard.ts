import type { AddressInfo, Server } from 'node:net';
import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { LockDashboardModule, type LockDashboardOptions } from '../../../lib/extras/dashboard/index.js';
import { type DashboardDoctor, LiveLocks } from '../../../lib/extras/dashboard/live-locks.js';
import { DistributedLockModule, type DistributedLockOptions, LockService } from '../../../lib/index.js';
import { memory } from './application.js';

/** An application with a dashboard and nothing else. */
export interface TestDashboard extends AsyncDisposable {
  readonly app: INestApplication;
  readonly locks: LockService;
  /** Of the server, without a slash at its end. */
  readonly origin: string;
  request(path: string, init?: RequestInit): Promise<Response>;
  text(path: string): Promise<string>;
}

export interface TestDashboardOptions extends ModuleMetadata {
  /** The options of the connection. @default in memory */
  readonly locks?: Partial<DistributedLockOptions>;
  readonly dashboard?: Partial<LockDashboardOptions>;
  readonly adapter?: AbstractHttpAdapter;
  readonly prepare?: (app: INestApplication) => void;
  /** Instead of the locks of the connection. */
  readonly doctor?: DashboardDoctor;
  readonly bodyParser?: boolean;
}

export async function startDashboard(options: TestDashboardOptions = {}): Promise<TestDashboard> {
  const { locks, dashboard, adapter, prepare, doctor, bodyParser = true, ...metadata } = options;
  const unsafe = dashboard?.guard === undefined;
  const settings: LockDashboardOptions = { path: '/locks', unsafe, ...dashboard };
  const builder = Test.createTestingModule({
    ...metadata,
    imports: [
      DistributedLockModule.forRoot({ connect: memory(), ...locks }),
      LockDashboardModule.forRoot(settings),
      ...(metadata.imports ?? []),
    ],
  });
  if (doctor !== undefined) {
    builder.overrideProvider(LiveLocks).useValue(new LiveLocks(async () => doctor, settings.scanEveryMs ?? 60_000));
  }
  const module = await builder.compile();
  const common = { logger: false, bodyParser } as const;
  const app =
    adapter === undefined ? module.createNestApplication(common) : module.createNestApplication(adapter, common);
  prepare?.(app);
  await app.listen(0, '127.0.0.1');
  const origin = `http://127.0.0.1:${((app.getHttpServer() as Server).address() as AddressInfo).port}`;
  const request = (path: string, init?: RequestInit): Promise<Response> => fetch(`${origin}${path}`, init);
  return {
    app,
    locks: app.get(LockService),
    origin,
    request,
    text: async (path) => (await request(path)).text(),
    [Symbol.asyncDispose]: () => app.close(),
  };
}
