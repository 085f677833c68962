import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { createLockService, Locked, LockClosedError, LockLostError } from '../../../lib/index.js';
import { eventually, within } from '../../support/process/eventually.js';
import { Stalls } from '../../support/process/stalls.js';
import { type NodeChild, ofType, startNodeChild } from '../../support/process/node-child.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { startApplication } from '../support/application.js';
import { Gate } from '../support/gate.js';
import { untilQueued } from '../support/queue.js';

const NODES_GONE_WITHIN_MS = 300;
const GRACE_MS = 1_000;

describe('an application on a real ZooKeeper that is told to end', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
  });
  afterAll(() => server.stop());

  it.each<[string, (child: NodeChild) => void, object]>([
    // With the hooks done, Nest sends itself the signal again.
    ['by SIGTERM', (child) => child.signal('SIGTERM'), { code: null, signal: 'SIGTERM' }],
    ['by app.close()', (child) => child.send('close'), { code: 0, signal: null }],
  ])('%s lets the holder finish, sends away who waits, and leaves nothing behind', async (_how, end, ending) => {
    await using child = await startNodeChild(new URL('./shutdown-script.ts', import.meta.url), {
      args: [server.connect, String(GRACE_MS)],
    });
    const { url } = await child.next('listens', ofType('listens'));
    // A connection that is kept alive would keep the HTTP server, and Nest with it, from closing for seconds.
    const headers = { connection: 'close' };
    const request = (path: string): Promise<Response> => fetch(`${String(url)}/${path}`, { headers });
    await using observer = await createLockService({ connect: server.connect });

    expect(await (await request('keep/kept')).text()).toBe('kept');
    const stream = await openStream(`${String(url)}/stream/streamed`);
    const holding = request('hold/a');
    await child.next('holds', ofType('holds'));
    const waiting = request('wait/a');
    await untilQueued(observer, '/locks/a');
    end(child);

    const sentAway = await waiting;
    expect(sentAway.status).toBe(503);
    expect(sentAway.headers.get('retry-after')).toBe('5');
    expect(await sentAway.json()).toMatchObject({ code: 'LOCK_CLOSED' });

    const finished = await holding;
    expect([finished.status, await finished.text()]).toEqual([200, 'held a']);
    const finishedAt = performance.now();
    using stalls = Stalls.watch();
    await eventually('all its nodes are gone', async () => {
      const states = await Promise.all(
        ['/locks/a', '/locks/kept', '/locks/streamed'].map((key) => observer.inspect(key)),
      );
      return states.every(({ state, queueLength }) => state === 'FREE' && queueLength === 0);
    });
    // The grace for those that never give back comes first.
    expect(performance.now() - finishedAt).toBeLessThan(GRACE_MS + NODES_GONE_WITHIN_MS + stalls.totalMs);
    expect(await within(5_000, 'the stream ends', stream.ended)).toMatch(/event: error[^]*The lock was lost/);
    expect(await within(5_000, 'the process ends by itself', child.ended)).toEqual(ending);
  });
});

/** Resolves when the stream has begun. Its client leaves when it has ended, as one without keep-alive does. */
async function openStream(url: string): Promise<{ readonly ended: Promise<string> }> {
  const request = get(url, { agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const ended = once(response, 'end').then(() => text);
  await eventually('the stream has begun', () => text.includes('data: streamed'));
  return { ended };
}

describe('an application in this process that is closed', () => {
  it('answers the holder, refuses who waits and who comes, in that order of events', async () => {
    const gate = new Gate();
    @Controller()
    class HoldController {
      @Get()
      @Locked('/locks/a')
      async hold(): Promise<string> {
        await gate.pass();
        return 'held';
      }
    }
    const { app, locks, url } = await startApplication({ controllers: [HoldController] });
    const holding = fetch(url, { headers: { connection: 'close' } });
    await gate.reached;
    const waiting = locks.acquire('/locks/a');
    const closing = app.close();

    await expect(waiting).rejects.toThrow(LockClosedError);
    await expect(locks.acquire('/locks/b')).rejects.toThrow(LockClosedError);
    gate.open();
    expect(await (await holding).text()).toBe('held');
    await closing;
    expect(locks.connectionState).toBe('closed');
  });

  it('takes the lock of a holder that does not end within the grace', async () => {
    const { app, locks } = await startApplication({}, { shutdownGraceMs: 20 });
    const running = locks.withLock('/locks/a', () => new Promise<never>(() => undefined));
    const gate = new Gate();
    const other = locks.withLock('/locks/b', (lock) => {
      lock.signal.addEventListener('abort', () => void gate.pass());
      return gate.reached;
    });
    await eventually('both hold', async () => {
      const states = await Promise.all(['/locks/a', '/locks/b'].map((key) => locks.inspect(key)));
      return states.every(({ state }) => state === 'HELD');
    });
    const ends = [expect(running).rejects.toThrow(LockLostError), expect(other).rejects.toThrow(LockLostError)];
    await app.close();

    await Promise.all(ends);
  });
});
