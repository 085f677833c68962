import 'reflect-metadata';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Get, type MessageEvent, Module, Sse } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { ExpressAdapter } from '@nestjs/platform-express';
import { map, merge, type Observable, of } from 'rxjs';
import { DistributedLockModule, LockService } from '../../../lib/index.js';
import { sendToParent } from '../../support/process/parent.js';

/** An application whose pages show what goes on, as people deploy it: nothing of it ends a stream, or a connection. */
const [connect = '', platform] = process.argv.slice(2);
const KEPT_ALIVE_MS = 600_000;

@Controller()
class StreamsController {
  constructor(private readonly locks: LockService) {}

  @Get('ping')
  ping(): string {
    return 'pong';
  }

  @Sse('state')
  state(): Observable<MessageEvent> {
    return this.locks.connectionState$.pipe(map((state) => ({ data: state })));
  }

  @Sse('watch')
  watch(): Observable<MessageEvent> {
    return this.locks.watch('/locks/a').pipe(map((data) => ({ data })));
  }

  @Sse('events')
  events(): Observable<MessageEvent> {
    return merge(of({ data: 'subscribed' }), this.locks.events$.pipe(map((data) => ({ data }))));
  }
}

@Module({
  imports: [DistributedLockModule.forRoot({ connect, sessionTimeoutMs: 6_000, serverTickMs: 500 })],
  controllers: [StreamsController],
})
class AppModule {}

/** Only what is used is loaded: a busy machine takes seconds for either. */
const adapter =
  platform === 'fastify'
    ? new (await import('@nestjs/platform-fastify')).FastifyAdapter()
    : new (await import('@nestjs/platform-express')).ExpressAdapter();
const app = await NestFactory.create(AppModule, adapter as ExpressAdapter, { logger: false });
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
const server = app.getHttpServer() as Server;
server.keepAliveTimeout = KEPT_ALIVE_MS;
process.once('message', () => {
  // Listening to the parent keeps a process alive: this one is to end by itself.
  process.disconnect();
  void app.close();
});
await sendToParent({ type: 'listens', port: (server.address() as AddressInfo).port });
