import { get } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Param, Sse } from '@nestjs/common';
import { Observable, startWith, Subject } from 'rxjs';
import { currentLock, Locked } from '../../../lib/index.js';
import { eventually } from '../../support/process/eventually.js';
import { startApplication } from '../support/application.js';
import { untilFree, untilQueued } from '../support/queue.js';
import { withoutTypes } from '../support/without-types.js';

describe('@Locked on an SSE handler', () => {
  const source = new Subject<{ data: string }>();

  @Controller()
  class EventsController {
    @Sse('typed/:id')
    @Locked('/locks/:id')
    typed(@Param('id') id: string): Observable<{ data: string }> {
      return source.pipe(startWith({ data: id }));
    }

    @Locked('/locks/:id', { subscribeWithinMs: 50 })
    @withoutTypes
    @Sse('untyped/:id')
    untyped(@Param('id') id: string): Observable<{ data: string }> {
      return source.pipe(startWith({ data: id }));
    }
  }

  it.each(['typed', 'untyped'])('(%s) holds while the client listens, and gives back when it leaves', async (kind) => {
    await using application = await startApplication({ controllers: [EventsController] });
    const request = get(`${application.url}/${kind}/${kind}`);
    await eventually('the handler runs', () => source.observed);
    expect((await application.locks.inspect(`/locks/${kind}`)).state).toBe('HELD');

    request.once('error', () => undefined).destroy();
    await untilFree(application.locks, `/locks/${kind}`);
  });

  it.each(['typed', 'untyped'])('(%s) holds nothing for ever for a client that leaves while it waits', async (kind) => {
    await using application = await startApplication({ controllers: [EventsController] });
    const held = await application.locks.acquire(`/locks/${kind}`);
    const request = get(`${application.url}/${kind}/${kind}`);
    await untilQueued(application.locks, held.key);
    const gone = new Promise((resolve) => request.once('close', resolve));
    request.once('error', () => undefined).destroy();
    await gone;

    await held.release();
    await untilFree(application.locks, held.key);
  });
});

describe('a handler that was taken before the application started', () => {
  it('is locked', async () => {
    @Controller()
    class Early {
      @Get('early')
      @Locked('/locks/early')
      async early(): Promise<string | undefined> {
        return currentLock()?.key;
      }
    }
    const early = Reflect.get(Early.prototype, 'early');
    await using application = await startApplication({ controllers: [Early] });

    expect(await Reflect.apply(early, application.get(Early), [])).toBe('/locks/early');
    expect(await (await fetch(`${application.url}/early`)).text()).toBe('/locks/early');
  });
});
