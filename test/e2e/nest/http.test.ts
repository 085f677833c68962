import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  applyDecorators,
  BadRequestException,
  Body,
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  Injectable,
  Ip,
  type NestInterceptor,
  Param,
  type PipeTransform,
  Post,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import { CurrentLock, currentLock, Fence, injected, type LockHandle, Locked } from '../../../lib/index.js';
import { startApplication, type TestApplication } from '../support/application.js';

const steps: string[] = [];

function step(name: string): void {
  steps.push(currentLock() === undefined ? name : `${name} (locked)`);
}

@Injectable()
class Guard implements CanActivate {
  canActivate(): boolean {
    step('guard');
    return true;
  }
}

@Injectable()
class Interceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    step('interceptor');
    return next.handle();
  }
}

@Injectable()
class UpperCase implements PipeTransform {
  transform(value: string): string {
    step('pipe');
    if (value === 'bad') throw new BadRequestException('bad');
    return value.toUpperCase();
  }
}

@Controller('files')
class FilesController {
  @Get(':name/steps')
  @UseGuards(Guard)
  @UseInterceptors(Interceptor)
  @Locked('/locks/:name')
  async steps(@Param('name', UpperCase) name: string, @CurrentLock() lock: LockHandle = injected()): Promise<string> {
    step('handler');
    return `${name} ${lock.key}`;
  }

  @Locked('/locks/:name')
  @Header('X-Below', 'yes')
  @HttpCode(202)
  @Post(':name/above')
  async above(@Param('name') name: string): Promise<string> {
    return `${name} ${currentLock()?.key}`;
  }

  @applyDecorators(Post(':name/composed'), Locked('/locks/:name'), HttpCode(203))
  async composed(@Param('name') name: string): Promise<string> {
    return `${name} ${currentLock()?.key}`;
  }

  @Post(':name/token')
  @Locked('/locks/:name')
  async token(
    @Fence() token: bigint,
    @Param('name') name: string,
    @Body() body: object,
    @Ip() ip: string,
  ): Promise<object> {
    return { name, type: typeof token, isOfLock: token === currentLock()?.fencingToken, body, hasIp: ip !== '' };
  }

  @Get(':name/raw')
  @Locked('/locks/raw')
  async raw(@Fence() token: bigint): Promise<string> {
    return typeof token;
  }
}

describe('@Locked on a controller', () => {
  let application: TestApplication;
  const request = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`${application.url}/files/${path}`, init);

  beforeAll(async () => {
    application = await startApplication({ controllers: [FilesController] });
  });
  afterAll(() => application.app.close());

  it('runs after guard, interceptor and pipe: guard, interceptor, pipe, lock, handler', async () => {
    steps.length = 0;
    const response = await request('readme/steps');

    expect(await response.text()).toBe('README /locks/README');
    expect(steps).toEqual(['guard', 'interceptor', 'pipe', 'handler (locked)']);
  });

  it('takes no lock for a request that a pipe refuses', async () => {
    const acquired: string[] = [];
    const subscription = application.locks.events$.subscribe(({ type, key }) => acquired.push(`${type} ${key}`));
    const response = await request('bad/steps');
    subscription.unsubscribe();

    expect(response.status).toBe(400);
    expect(acquired).toEqual([]);
  });

  it('may stand above the route', async () => {
    const response = await request('a/above', { method: 'POST' });

    expect(await response.text()).toBe('a /locks/a');
    expect(response.status).toBe(202);
    expect(response.headers.get('x-below')).toBe('yes');
  });

  it('may stand inside applyDecorators', async () => {
    const response = await request('b/composed', { method: 'POST' });

    expect(await response.text()).toBe('b /locks/b');
    expect(response.status).toBe(203);
  });

  it('fills in the token, next to what Nest fills in, and overwrites what a caller sends', async () => {
    const response = await request('c/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: '999' }),
    });

    expect(await response.json()).toEqual({
      name: 'c',
      type: 'bigint',
      isOfLock: true,
      body: { token: '999' },
      hasIp: true,
    });
  });

  it('overwrites what Nest gives to a handler without route parameters: the request', async () => {
    expect(await (await request('x/raw')).text()).toBe('bigint');
  });

  it('encodes what the client sends: it cannot reach another key', async () => {
    const response = await request(`${encodeURIComponent('../x/y')}/above`, { method: 'POST' });

    expect(await response.text()).toBe('../x/y /locks/..%2Fx%2Fy');
  });
});
