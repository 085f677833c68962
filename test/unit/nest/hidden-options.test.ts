import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LockService } from '../../../lib/engine/lock-service.js';
import { DistributedLockModule } from '../../../lib/nest/distributed-lock.module.js';
import type { DistributedLockOptions } from '../../../lib/options.js';

const SECRET = 'correct horse battery staple';

@Module({})
class Application {}

describe('Credentials in the options of the module', () => {
  const options = (): DistributedLockOptions => ({
    connect: 'memory:',
    auth: { username: 'orders', password: SECRET },
    tls: { passphrase: SECRET },
  });
  class Settings {
    createDistributedLockOptions = options;
  }

  it.each<[string, () => DynamicModule]>([
    ['forRoot', () => DistributedLockModule.forRoot(options())],
    ['a factory', () => DistributedLockModule.forRootAsync({ useFactory: options })],
    ['a factory that takes its time', () => DistributedLockModule.forRootAsync({ useFactory: async () => options() })],
    ['a class', () => DistributedLockModule.forRootAsync({ useClass: Settings })],
  ])('are neither in the module nor in the application, where these are printed: %s', async (_, makeModule) => {
    const module = makeModule();
    const application = await NestFactory.createApplicationContext(
      { module: Application, imports: [module] },
      { logger: false },
    );
    expect(JSON.stringify(module)).not.toContain(SECRET);
    expect(inspect([module, application], { depth: 12 })).not.toContain(SECRET);
    expect(await application.get(LockService).withLock('/a', () => 'ran')).toBe('ran');
    await application.close();
  });
});
