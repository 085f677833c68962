import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, type MessageEvent, Query, Sse } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { map, type Observable, startWith } from 'rxjs';
import {
  type ClosableLockService,
  createLockService,
  DistributedLockModule,
  type LockEvent,
  type LockHandle,
  LockService,
  LockTimeoutError,
} from '../../../lib/index.js';
import { within } from '../../support/process/eventually.js';
import { EventStream, type StreamedEvent } from '../sample-app/support/event-stream.js';
import { memory } from '../support/application.js';
import { untilQueued } from '../support/queue.js';

const KEY = '/tenants/acme/orders/42';
const DIGITS = /^[1-9]\d*$/;
const SESSION = /^0x[0-9a-f]+$/;
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** What people write on the first day: nothing is mapped, picked or turned into text. */
@Controller()
class OperationsController {
  constructor(@Inject(LockService) private readonly locks: LockService) {}

  @Get('inspect')
  inspect(@Query('key') key: string) {
    return this.locks.inspect(key);
  }

  @Get('mapped')
  async mapped(@Query('key') key: string) {
    return { ...(await this.locks.inspect(key)).toJSON(), by: 'us' };
  }

  @Get('error')
  async error() {
    return { error: await this.locks.acquire(KEY, { waitMs: 0 }).catch((error: unknown) => error) };
  }

  @Get('handles')
  async handles() {
    const lock = await this.locks.acquire('/handles/one');
    const locks = await this.locks.acquireAll(['/handles/two', '/handles/three']);
    queueMicrotask(() => void Promise.all([lock.release(), locks.release()]));
    return { lock, locks, state: this.locks.connectionState, session: this.locks.sessionId, service: this.locks };
  }

  @Sse('watch')
  watch(@Query('key') key: string): Observable<MessageEvent> {
    return this.locks.watch(key).pipe(map((data) => ({ type: 'snapshot', data })));
  }

  @Sse('events')
  events(): Observable<MessageEvent> {
    return this.locks.events$.pipe(
      map((data) => ({ type: data.type, data })),
      startWith({ type: 'subscribed', data: {} }),
    );
  }

  @Sse('states')
  states(): Observable<MessageEvent> {
    return this.locks.connectionState$.pipe(map((state) => ({ type: 'state', data: JSON.stringify(state) })));
  }
}

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('what an application on %s answers of its locks, as they are,', (_name, adapter) => {
  let app: NestFastifyApplication;
  let url: string;
  let locks: LockService;
  let other: ClosableLockService;

  beforeEach(async () => {
    const connect = memory();
    const module = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ connect })],
      controllers: [OperationsController],
    }).compile();
    app = module.createNestApplication<NestFastifyApplication>(adapter() as FastifyAdapter, { logger: false });
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
    locks = app.get(LockService);
    other = await createLockService({ connect });
  });
  afterEach(async () => {
    await other.close(0);
    await app.close();
  });

  async function answer(path: string): Promise<Record<string, unknown>> {
    const response = await fetch(`${url}/${path}`);
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, unknown>;
  }

  /** Another process waits behind this one's lock. */
  async function held() {
    const lock = await locks.acquire(KEY, { label: 'the holder', leaseMs: 60_000 });
    const waiting = other.acquire(KEY, { label: 'who waits', mode: 'read' });
    await untilQueued(locks, KEY);
    return { lock, waiting };
  }

  it('shows by inspect() who holds and who waits', async () => {
    const { lock, waiting } = await held();
    const snapshot = await answer(`inspect?key=${KEY}`);

    const contender = {
      nodePath: expect.stringContaining(`${KEY}/`),
      fencingToken: expect.stringMatching(DIGITS),
      sessionId: expect.stringMatching(SESSION),
      since: expect.stringMatching(DATE),
      ageMs: expect.any(Number),
    };
    expect(snapshot).toMatchObject({
      key: KEY,
      state: 'HELD',
      queueLength: 1,
      holders: [{ ...contender, mode: 'exclusive', client: { label: 'the holder', pid: process.pid } }],
      queue: [{ ...contender, mode: 'read', client: { label: 'who waits' } }],
    });
    const [holder] = snapshot['holders'] as Record<string, unknown>[];
    const [waiter] = snapshot['queue'] as Record<string, unknown>[];
    expect(holder).toMatchObject({ fencingToken: String(lock.fencingToken), sessionId: locks.sessionId });
    expect(waiter).toMatchObject({ sessionId: other.sessionId });
    expect(await answer(`mapped?key=${KEY}`)).toMatchObject({ holders: [contender], by: 'us' });

    await lock.release();
    await (await waiting).release();
  });

  it('shows by watch() and events$ that somebody holds, waits, lost it, and what late work came to', async () => {
    await using snapshots = new EventStream(`${url}/watch?key=${KEY}`);
    await using events = new EventStream(`${url}/events`);
    await using states = new EventStream(`${url}/states`);
    const event = (type: LockEvent['type'] | 'subscribed'): Promise<StreamedEvent> =>
      events.next(`the event ${type}`, (one) => one.type === type);
    await states.next('the state', ({ data }) => (data as unknown) === 'connected');
    await snapshots.next('a free lock', ({ data }) => data['state'] === 'FREE');
    await event('subscribed');

    const { lock, waiting } = await held();
    const token = String(lock.fencingToken);
    const shown = await snapshots.next('who waits', ({ data }) => data['queueLength'] === 1);
    expect(shown.data).toMatchObject({ holders: [{ fencingToken: token, sessionId: locks.sessionId }] });
    expect((await event('acquired')).data).toMatchObject({ key: KEY, label: 'the holder', token });

    await expect(locks.acquire(KEY, { waitMs: 0 })).rejects.toThrow(LockTimeoutError);
    expect((await event('failed')).data).toMatchObject({ key: KEY, error: { code: 'LOCK_TIMEOUT' } });

    lock.extend(1);
    await (await within(5_000, 'the other enters', waiting)).release();
    expect((await event('lost')).data).toEqual({
      type: 'lost',
      key: KEY,
      mode: 'exclusive',
      label: 'the holder',
      owner: expect.any(String),
      token,
      reason: 'lease-ended',
      waitedMs: expect.any(Number),
      heldMs: expect.any(Number),
      error: { name: 'LockLostError', code: 'LOCK_LOST', message: 'The lock was lost', status: 503 },
      evidence: expect.objectContaining({ linkDownMs: 0, sessionTimeoutMs: expect.any(Number) }),
    });

    const circular: Error & { self?: unknown } = Object.assign(new Error('of its own'), { token: 7n });
    circular.self = circular;
    const work = async (own: LockHandle): Promise<void> => {
      const aborted = once(own.signal, 'abort');
      own.extend(1);
      await aborted;
      throw circular;
    };
    await locks.withLock(KEY, work, { leaseMs: 60_000 }).catch(() => undefined);
    expect((await event('late-result')).data).toMatchObject({
      token: expect.stringMatching(DIGITS),
      error: { name: 'Error', message: 'of its own' },
    });
    await (await locks.acquire(KEY)).release();
    expect((await event('released')).data).toMatchObject({ token: expect.stringMatching(DIGITS) });
  });

  it('shows of an error what it was, and no key or server', async () => {
    const { lock, waiting } = await held();
    expect(await answer('error')).toEqual({
      error: {
        name: 'LockTimeoutError',
        code: 'LOCK_TIMEOUT',
        message: 'The lock is busy: others held it for the whole time that this call could wait',
        status: 423,
      },
    });
    await lock.release();
    await (await waiting).release();
  });

  it('may be handles, states and the service itself', async () => {
    const { service, ...rest } = await answer('handles');
    expect(rest).toMatchObject({ lock: {}, state: 'connected', session: expect.stringMatching(SESSION) });
    expect(typeof service).toBe('object');
  });
});
