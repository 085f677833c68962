import 'reflect-metadata';
import type { AddressInfo, Server } from 'node:net';
import { Body, Controller, Get, Module, Post, Put } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { FencingModule } from '../../../lib/fencing/http/fencing.module.js';
import { RequireFence } from '../../../lib/fencing/http/fence.decorators.js';
import { PostgresFence } from '../../../lib/fencing/postgres/postgres-fence.js';
import { LockExceptionFilter } from '../../../lib/nest/lock-exception.filter.js';
import { sendToParent } from '../process/parent.js';

/** A service that protects a text of its own against the stale locks of those that call it; and one that does not. */
const [postgresUrl = ''] = process.argv.slice(2);
const texts = { guarded: '', open: '' };

@Controller('guarded')
class GuardedController {
  @Get('http')
  read(): { text: string } {
    return { text: texts.guarded };
  }

  @Post('http')
  @RequireFence('/locks/http')
  claim(): string {
    return 'claimed';
  }

  @Put('http')
  @RequireFence('/locks/http')
  write(@Body() { text }: { text: string }): string {
    texts.guarded = text;
    return 'written';
  }
}

@Controller('open')
class OpenController {
  @Get('http')
  read(): { text: string } {
    return { text: texts.open };
  }

  @Put('http')
  write(@Body() { text }: { text: string }): string {
    texts.open = text;
    return 'written';
  }
}

@Module({
  imports: [
    FencingModule.forRoot({
      marks: new PostgresFence({ pool: new pg.Pool({ connectionString: postgresUrl, max: 2 }) }),
    }),
  ],
  controllers: [GuardedController, OpenController],
})
class ServiceModule {}

const application = await NestFactory.create(ServiceModule, { logger: ['error'] });
application.useGlobalFilters(new LockExceptionFilter());
await application.listen(0, '127.0.0.1');
const { port } = (application.getHttpServer() as Server).address() as AddressInfo;
await sendToParent({ type: 'listens', url: `http://127.0.0.1:${port}` });
