import { describe, expect, it } from '@jest/globals';
import { Controller, Inject, Injectable, Param, Post, UseFilters } from '@nestjs/common';
import { lastValueFrom, Observable } from 'rxjs';
import { createLockDoctor } from '../../../lib/extras/doctor/index.js';
import {
  CurrentLock,
  injected,
  Locked,
  LockExceptionFilter,
  LockHandle,
  LockService,
  type LockLoss,
} from '../../../lib/index.js';
import { eventually } from '../../support/process/eventually.js';
import { memory, startApplication, type TestApplication } from '../support/application.js';
import { Gate } from '../support/gate.js';

const KEY = '/locks/a';
const WHY = { by: 'ada', reason: 'stuck since noon' };
/** Nothing here waits for its end. */
const LONG_GRACE_MS = 60_000;

function untilAborted({ signal }: LockHandle): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

/** What the work does when its lock is broken, until the test lets it go on. */
const state = { steps: [] as string[], hook: new Gate(), work: new Gate() };

@Injectable()
@Controller()
@UseFilters(LockExceptionFilter)
class Work {
  constructor(@Inject(LockService) readonly locks: LockService) {}

  @Post('run/:id')
  @Locked('/locks/:id', {
    onLost: async ({ reason }: LockLoss) => {
      state.steps.push(`hook: ${reason}`);
      await state.hook.pass();
      state.steps.push('hook ends');
    },
  })
  async run(@Param('id') _id: string, @CurrentLock() lock: LockHandle = injected()): Promise<void> {
    await untilAborted(lock);
    state.steps.push('method ends');
  }

  @Locked(KEY, { returns: 'observable' })
  stream(): Observable<number> {
    return new Observable((subscriber) => {
      subscriber.next(1);
      return () => state.steps.push('torn down');
    });
  }

  @Locked(KEY)
  async *rows(): AsyncGenerator<number> {
    try {
      for (let row = 1; ; row += 1) yield row;
    } finally {
      state.steps.push('rows close');
      await state.work.pass();
      state.steps.push('rows are closed');
    }
  }
}

describe('A broken lock of a decorated method', () => {
  async function start(): Promise<{ application: TestApplication; connect: string }> {
    Object.assign(state, { steps: [], hook: new Gate(), work: new Gate() });
    const connect = memory();
    return { application: await startApplication({ providers: [Work], controllers: [Work] }, { connect }), connect };
  }

  async function breakIt(connect: string, { locks }: TestApplication): Promise<string> {
    const [holder] = (await locks.inspect(KEY)).holders;
    await using doctor = await createLockDoctor({ connect });
    const { ended } = await doctor.break(KEY, { token: holder!.fencingToken, ...WHY, graceMs: LONG_GRACE_MS });
    return ended;
  }

  const held = ({ locks }: TestApplication): Promise<true> =>
    eventually('it is held', async () => (await locks.inspect(KEY)).holders.length === 1);

  it('answers 503 at once, and keeps others out until its onLost hook has ended', async () => {
    const { application, connect } = await start();
    await using app = application;
    const answer = fetch(`${app.url}/run/a`, { method: 'POST' });
    await held(app);
    const next = app.locks.acquire(KEY).then((lock) => {
      state.steps.push('next enters');
      return lock;
    });
    const broken = breakIt(connect, app);
    const response = await answer;
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    const body = await response.text();
    expect(JSON.parse(body)).toMatchObject({ code: 'LOCK_BROKEN' });
    expect(body).not.toMatch(/ada|noon|locks/);

    await state.hook.reached;
    expect((await app.locks.inspect(KEY)).queueLength).toBe(1);
    state.hook.open();
    expect(await broken).toBe('in order');
    await (await next).release();
    expect(state.steps).toEqual(['hook: broken', 'method ends', 'hook ends', 'next enters']);
  });

  it('ends its stream, whose teardown is over before others enter', async () => {
    const { application, connect } = await start();
    await using app = application;
    const outcome = lastValueFrom(app.get(Work).stream()).catch((error: unknown) => error);
    await held(app);
    expect(await breakIt(connect, app)).toBe('in order');
    expect(await outcome).toMatchObject({ code: 'LOCK_BROKEN', ...WHY });
    expect(state.steps).toEqual(['torn down']);
  });

  it('ends its generator, and keeps others out until that has closed', async () => {
    const { application, connect } = await start();
    await using app = application;
    const rows = app.get(Work).rows();
    await rows.next();
    const broken = breakIt(connect, app);
    const outcome = await eventually('it is lost', () =>
      rows.next().then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
    expect(outcome).toMatchObject({ code: 'LOCK_BROKEN' });
    await state.work.reached;
    expect((await app.locks.inspect(KEY)).holders).toHaveLength(1);
    state.work.open();
    expect(await broken).toBe('in order');
    expect(state.steps).toEqual(['rows close', 'rows are closed']);
  });
});
