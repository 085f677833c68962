import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  Post,
  RequestTimeoutException,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { catchError, concatMap, type Observable, throwError, timeout, TimeoutError } from 'rxjs';
import { currentLock, Locked, type LockService } from '../../../lib/index.js';
import { startApplication, type TestApplication } from '../support/application.js';
import { Gate } from '../support/gate.js';
import { untilQueued } from '../support/queue.js';

const steps: string[] = [];
let locks: LockService;
let gate: Gate;

function step(name: string): void {
  const lock = currentLock();
  steps.push(lock === undefined ? name : `${name} under ${lock.key}`);
}

async function isFree(key: string): Promise<boolean> {
  await using lock = await locks.tryAcquire(key);
  return lock !== undefined;
}

/** As a decorator of transactions, retries or caches does, it replaces the method. */
function around(name: string, times = 1): MethodDecorator {
  return (_target, _name, descriptor) => {
    const original = descriptor.value as (...args: unknown[]) => Promise<unknown>;
    const replacement = async function (this: unknown, ...args: unknown[]) {
      for (let attempt = 1; ; attempt += 1) {
        step(`${name} begins`);
        try {
          return await original.apply(this, args);
        } catch (error) {
          if (attempt === times) throw error;
        } finally {
          step(`${name} ends`);
        }
      }
    };
    descriptor.value = replacement as typeof descriptor.value & typeof replacement;
  };
}

@Injectable()
class NoEntry implements CanActivate {
  canActivate(): boolean {
    step('guard');
    return false;
  }
}

@Injectable()
class Around implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    step('interceptor before');
    return next
      .handle()
      .pipe(concatMap(async () => step(`interceptor after, the lock is ${(await isFree('/a')) ? 'free' : 'held'}`)));
  }
}

@Injectable()
class TimeOut implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      timeout(50),
      catchError((error: unknown) =>
        throwError(() => (error instanceof TimeoutError ? new RequestTimeoutException() : error)),
      ),
    );
  }
}

@Controller()
class Everything {
  @Get('numbers/:id')
  @Locked('/numbers/:id')
  async number(@Param('id', ParseIntPipe) id: number): Promise<string> {
    step('method');
    return `${id}`;
  }

  @Get('refused')
  @UseGuards(NoEntry)
  @Locked('/a')
  async refused(): Promise<void> {
    step('method');
  }

  @Get('around')
  @UseInterceptors(Around)
  @Locked('/a')
  async intercepted(): Promise<void> {
    step('method');
  }

  @Get('below')
  @Locked('/a')
  @around('transaction')
  async transactionBelow(): Promise<void> {
    step('method');
  }

  @Get('above')
  @around('transaction')
  @Locked('/a')
  async transactionAbove(): Promise<void> {
    step('method');
  }

  @Get('retried')
  @around('attempt', 2)
  @Locked('/a')
  async retried(): Promise<void> {
    step('method');
    throw new Error('no luck');
  }

  @Get('two')
  @Locked('/upper')
  @Locked('/lower')
  async two(): Promise<void> {
    step('method');
  }

  @Get('early')
  @Locked('/a')
  async answersLater(@Res() response: ServerResponse): Promise<void> {
    void gate.pass().then(() => response.end('late'));
  }

  @Get('waits')
  @Locked('/a')
  async waitsForItsAnswer(@Res() response: ServerResponse): Promise<void> {
    response.end('sent');
    step('answer');
    await finished(response).catch(() => undefined);
    step('closed');
  }

  @Post('slow')
  @UseInterceptors(TimeOut)
  @Locked('/a')
  async slow(): Promise<void> {
    await gate.pass();
  }
}

describe('@Locked beside what else stands around a handler', () => {
  let application: TestApplication;

  beforeAll(async () => {
    application = await startApplication({ controllers: [Everything] });
    locks = application.locks;
  });
  afterAll(async () => application[Symbol.asyncDispose]());
  beforeEach(() => {
    steps.length = 0;
    gate = new Gate();
  });

  async function get(path: string): Promise<[status: number, body: string]> {
    const response = await fetch(`${application.url}/${path}`);
    return [response.status, await response.text()];
  }

  it('takes no lock for what a guard or a pipe refuses, and makes the key of what the pipe returns', async () => {
    expect((await get('refused'))[0]).toBe(403);
    expect((await get('numbers/seven'))[0]).toBe(400);
    expect(await get('numbers/007')).toEqual([200, '7']);
    expect(steps).toEqual(['guard', 'method under /numbers/7']);
  });

  it('is over when the second half of an interceptor runs', async () => {
    await get('around');
    expect(steps).toEqual(['interceptor before', 'method under /a', 'interceptor after, the lock is free']);
  });

  it('covers the commit of a transaction below it, not of one above', async () => {
    await get('below');
    expect(steps).toEqual(['transaction begins under /a', 'method under /a', 'transaction ends under /a']);
    steps.length = 0;
    await get('above');
    expect(steps).toEqual(['transaction begins', 'method under /a', 'transaction ends']);
  });

  it('is taken anew for each attempt of a retry above', async () => {
    expect((await get('retried'))[0]).toBe(500);
    expect(steps).toEqual([
      'attempt begins',
      'method under /a',
      'attempt ends',
      'attempt begins',
      'method under /a',
      'attempt ends',
    ]);
  });

  it('may stand twice, the upper one first', async () => {
    const taken: string[] = [];
    const subscription = locks.events$.subscribe(({ type, key }) => type === 'acquired' && taken.push(key));
    await get('two');
    subscription.unsubscribe();
    expect([taken, steps]).toEqual([['/upper', '/lower'], ['method under /lower']]);
  });

  it('is over when a method with @Res() has returned, whether it has answered or not', async () => {
    const answer = get('early');
    await gate.reached;
    await using lock = await locks.acquire('/a');
    gate.open();
    expect(await answer).toEqual([200, 'late']);
    expect(lock.isHeld()).toBe(true);
  });

  it('lasts until the answer is sent, where the method waits for that', async () => {
    expect(await get('waits')).toEqual([200, 'sent']);
    await using next = await locks.acquire('/a');
    expect([steps, next.isHeld()]).toEqual([['answer under /a', 'closed under /a'], true]);
  });

  it('goes back where the client left while its request waited for the lock', async () => {
    const server = application.app.getHttpServer() as Server;
    const client = new AbortController();
    await using blocker = await locks.acquire('/a');
    const left = once(server, 'request').then(([, response]: ServerResponse[]) => once(response!, 'close'));
    const answer = fetch(`${application.url}/waits`, { signal: client.signal });
    await untilQueued(locks, '/a');
    client.abort();
    await expect(answer).rejects.toThrow();
    await left;
    await blocker.release();
    await using next = await locks.acquire('/a', { waitMs: 5_000 });
    expect([steps, next.isHeld()]).toEqual([['answer under /a', 'closed under /a'], true]);
  });

  it('goes on behind an answer that timeout() gave in place of the method', async () => {
    const response = await fetch(`${application.url}/slow`, { method: 'POST' });
    expect(response.status).toBe(408);
    expect(await isFree('/a')).toBe(false);
    gate.open();
    await using next = await locks.acquire('/a');
    expect(next.isHeld()).toBe(true);
  });
});
