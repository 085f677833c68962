import { randomUUID } from 'node:crypto';
import type { AddressInfo, Server } from 'node:net';
import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DistributedLockModule, type DistributedLockOptions, LockService } from '../../../lib/index.js';

/** A Nest application of a test's own, over an ensemble in memory that nobody else uses. */
export interface TestApplication extends AsyncDisposable {
  readonly app: INestApplication;
  readonly locks: LockService;
  /** Where it listens. */
  readonly url: string;
  get: INestApplication['get'];
}

export function memory(): string {
  return `memory:${randomUUID()}`;
}

export async function startApplication(
  metadata: ModuleMetadata,
  options: Partial<DistributedLockOptions> = {},
  prepare: (app: INestApplication) => void | Promise<void> = () => undefined,
): Promise<TestApplication> {
  const locks = DistributedLockModule.forRoot({ connect: memory(), ...options });
  const module = await Test.createTestingModule({
    ...metadata,
    imports: [locks, ...(metadata.imports ?? [])],
  }).compile();
  const app = module.createNestApplication({ logger: false });
  try {
    await prepare(app);
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    await app.close();
    throw error;
  }
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return {
    app,
    locks: app.get(LockService),
    url: `http://127.0.0.1:${port}`,
    get: app.get.bind(app),
    [Symbol.asyncDispose]: () => app.close(),
  };
}
