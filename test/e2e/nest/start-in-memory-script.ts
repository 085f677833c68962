import 'reflect-metadata';
import { ConsoleLogger, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DistributedLockModule, Locked } from '../../../lib/index.js';
import { DistributedLockTestingModule } from '../../../lib/extras/testing/index.js';

/** What it is started with: `module`, `allowed`, `local` or `testing`. */
const MODULES = {
  module: () => DistributedLockModule.forRoot({ connect: 'memory:' }),
  allowed: () => DistributedLockModule.forRoot({ connect: 'memory:', memory: { allowInProduction: true } }),
  local: () =>
    DistributedLockModule.forRoot({
      connect: '127.0.0.1:1',
      whenUnavailable: 'local',
      waitMs: 500,
      connectTimeoutMs: 500,
    }),
  testing: () => DistributedLockTestingModule.forRoot(),
};

@Injectable()
class Jobs {
  @Locked('/jobs')
  async run(): Promise<string> {
    return 'ran';
  }
}

@Module({ imports: [MODULES[process.argv[2] as keyof typeof MODULES]()], providers: [Jobs] })
class AppModule {}

const logger = new ConsoleLogger({ colors: false, logLevels: ['warn', 'error'] });
const application = await NestFactory.createApplicationContext(AppModule, { logger });
process.stdout.write(`${await application.get(Jobs).run()}\n`);
await application.close();
