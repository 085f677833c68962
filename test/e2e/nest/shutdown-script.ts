import 'reflect-metadata';
import type { AddressInfo, Server } from 'node:net';
import { type BeforeApplicationShutdown, Controller, Get, Module, Param, Sse } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { concat, NEVER, type Observable, of } from 'rxjs';
import { DistributedLockModule, LockExceptionFilter, Locked, LockService } from '../../../lib/index.js';
import { sendToParent } from '../../support/process/parent.js';

/**
 * An application as people deploy it. A request under `/hold` keeps its lock until the shutdown has begun and the
 * others, who wait, have been told. `/keep` and `/stream` never give their locks back by themselves.
 */
const [connect = '', graceMs] = process.argv.slice(2);

let tellShutdown: () => void = () => undefined;
const shutdown = new Promise<void>((resolve) => (tellShutdown = resolve));
let waiting = 0;
let tellNoneWaits: () => void = () => undefined;
const noneWaits = new Promise<void>((resolve) => (tellNoneWaits = resolve));

@Controller()
class HoldController implements BeforeApplicationShutdown {
  constructor(private readonly locks: LockService) {}

  beforeApplicationShutdown(): void {
    tellShutdown();
  }

  @Get('hold/:id')
  @Locked('/locks/:id')
  async hold(@Param('id') id: string): Promise<string> {
    await sendToParent({ type: 'holds', id });
    await shutdown;
    await noneWaits;
    return `held ${id}`;
  }

  @Get('wait/:id')
  async wait(@Param('id') id: string): Promise<string> {
    waiting += 1;
    try {
      return await this.locks.withLock(`/locks/${id}`, () => 'got it');
    } finally {
      waiting -= 1;
      if (waiting === 0) tellNoneWaits();
    }
  }

  @Get('keep/:id')
  async keep(@Param('id') id: string): Promise<string> {
    await this.locks.acquire(`/locks/${id}`);
    return 'kept';
  }

  @Sse('stream/:id')
  @Locked('/locks/:id', { returns: 'observable' })
  stream(@Param('id') id: string): Observable<{ data: string }> {
    return concat(of({ data: id }), NEVER);
  }
}

@Module({
  imports: [
    DistributedLockModule.forRoot({
      connect,
      shutdownGraceMs: Number(graceMs),
      sessionTimeoutMs: 6_000,
      serverTickMs: 500,
    }),
  ],
  controllers: [HoldController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
app.useGlobalFilters(new LockExceptionFilter());
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
process.once('message', () => {
  // Listening to the parent keeps a process alive: this one is to end by itself.
  process.disconnect();
  void app.close();
});
const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
await sendToParent({ type: 'listens', url: `http://127.0.0.1:${port}` });
