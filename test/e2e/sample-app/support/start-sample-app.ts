import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Abstract } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { LockService } from '../../../../lib/index.js';
import { overrideLocks } from '../../../../lib/extras/testing/index.js';
import { AppModule } from '../../../../sample-app/app.module.js';
import { prepare } from '../../../../sample-app/prepare.js';
import { folderRemoved, removeWithUs } from '../../../support/process/reaper.js';
import { memory } from '../../support/application.js';

/** The sample application as `main.ts` sets it up, on an ensemble in memory and a folder of its own. */
export interface SampleApp extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  readonly locks: LockService;
  get<T>(type: Abstract<T>): T;
  request(path: string, init?: RequestInit): Promise<Response>;
  /** POSTs plain text. */
  post(path: string, text?: string): Promise<Response>;
  /** As SIGTERM does. */
  close(): Promise<void>;
  /** And removes its folder. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface SampleAppOptions {
  readonly waitMs?: number;
  readonly isDataDirTemporary?: boolean;
  /** Its connection can be cut: `LockTesting.of(sample.locks)`. */
  readonly isBreakable?: boolean;
  readonly operatorPassword?: string;
}

export async function startSampleApp(options: SampleAppOptions = {}): Promise<SampleApp> {
  const { waitMs = 15_000, isDataDirTemporary = false, isBreakable = false, operatorPassword } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'sample-app-test-'));
  removeWithUs(dataDir);
  const times = { waitMs, sessionTimeoutMs: 10_000, serverTickMs: 2_000 };
  const settings = { connect: memory(), dataDir, isDataDirTemporary, operatorPassword, ...times };
  const builder = Test.createTestingModule({ imports: [AppModule.with(settings)] });
  const module = await (isBreakable ? overrideLocks(builder, { waitMs }) : builder).compile();
  const app = module.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: false });
  prepare(app);
  await app.listen(0, '127.0.0.1');
  // A test that is under way when a minute begins would see the job run, or find that it has just run.
  for (const job of app.get(SchedulerRegistry).getCronJobs().values()) void job.stop();
  const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
  const request = (path: string, init?: RequestInit): Promise<Response> => fetch(`${url}${path}`, init);
  return {
    url,
    dataDir,
    locks: app.get(LockService),
    get: (type) => app.get(type),
    request,
    post: (path, text = '') => request(path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: text }),
    close: () => app.close(),
    async [Symbol.asyncDispose]() {
      await app.close();
      await rm(dataDir, { recursive: true, force: true });
      folderRemoved(dataDir);
    },
  };
}
