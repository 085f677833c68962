import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Param, Res, Sse, UseFilters } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { concat, NEVER, type Observable, of } from 'rxjs';
import { DistributedLockModule, Locked, LockExceptionFilter, LockLostError, LockService } from '../../../lib/index.js';
import { within } from '../../support/process/eventually.js';
import { memory } from '../support/application.js';
import { untilFree } from '../support/queue.js';

interface Reply {
  hijack(): unknown;
  readonly raw: { writeHead(status: number): unknown; write(text: string): unknown };
}

@Controller()
@UseFilters(LockExceptionFilter)
class FilesController {
  @Get('busy/:name')
  @Locked('/locks/:name', { waitMs: 0 })
  async busy(@Param('name') name: string): Promise<string> {
    return name;
  }

  @Get('lost')
  async lost(): Promise<string> {
    throw new LockLostError('The lock /locks/tenant was lost', '/locks/tenant');
  }

  /** As libraries stream: Fastify is told to leave the answer to them. */
  @Get('taken-over')
  async takenOver(@Res() reply: Reply): Promise<void> {
    reply.hijack();
    return this.begun(reply);
  }

  @Get('begun')
  async begun(@Res() reply: Reply): Promise<void> {
    reply.raw.writeHead(200);
    reply.raw.write('first');
    throw new LockLostError('The lock /locks/tenant was lost', '/locks/tenant');
  }

  @Sse('stream')
  @Locked('/locks/stream', { leaseMs: 100 })
  stream(): Observable<{ data: string }> {
    return concat(of({ data: 'first' }), NEVER);
  }
}

describe('@Locked and its filter on Fastify', () => {
  let app: NestFastifyApplication;
  let url: string;
  beforeAll(async () => {
    const module = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ connect: memory() })],
      controllers: [FilesController],
    }).compile();
    app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
  });
  afterAll(() => app.close());

  it('locks a handler, and answers with status, code and Retry-After', async () => {
    expect(await (await fetch(`${url}/busy/a`)).text()).toBe('a');
    await using held = await app.get(LockService).acquire('/locks/a');
    const busy = await fetch(`${url}/busy/a`);
    expect([busy.status, await busy.json(), held.isHeld()]).toEqual([
      423,
      { statusCode: 423, code: 'LOCK_TIMEOUT', message: expect.stringMatching(/^The lock is busy/) },
      true,
    ]);

    const lost = await fetch(`${url}/lost`);
    expect([lost.status, lost.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await lost.json()).toEqual({ statusCode: 503, code: 'LOCK_LOST', message: 'The lock was lost' });
  });

  it.each(['begun', 'taken-over'])('ends an answer that was %s: no status can be said any more', async (how) => {
    const answer = await fetch(`${url}/${how}`);
    expect(answer.status).toBe(200);
    expect(await within(5_000, 'the answer ends', answer.text())).toBe('first');
  });

  it('tells of a loss in the midst of an event stream, and ends it', async () => {
    const answer = await fetch(`${url}/stream`);
    const text = await within(5_000, 'the stream ends', answer.text());
    expect(text).toMatch(/data: first[^]*event: error[^]*data: The lock was lost\n/);
    await untilFree(app.get(LockService), '/locks/stream');
  });
});
