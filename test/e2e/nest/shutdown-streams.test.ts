import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { eventually, within } from '../../support/process/eventually.js';
import { type NodeChild, ofType, startNodeChild } from '../../support/process/node-child.js';
import { Stalls } from '../../support/process/stalls.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { startApplication } from '../support/application.js';
import { Gate } from '../support/gate.js';

/** Of what kept the process alive, streams have no end, connections ten minutes, and those that send nothing one. */
const CLOSED_WITHIN_MS = 12_000;

/** The process compiles what it loads. */
const STARTED_WITHIN_MS = 45_000;
/** That, and the rest. */
const TEST_MS = 90_000;

type End = [how: string, (child: NodeChild) => void, object];

describe('an application with clients that stay', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
  });
  afterAll(() => server.stop());

  const ends: End[] = [
    // With the hooks done, Nest sends itself the signal again.
    ['SIGTERM', (child) => child.signal('SIGTERM'), { code: null, signal: 'SIGTERM' }],
    ['app.close()', (child) => child.send('close'), { code: 0, signal: null }],
  ];
  const cases = ['express', 'fastify'].flatMap((platform) => ends.map((end) => [platform, ...end] as const));

  it.each(cases)(
    'ends on %s by %s as soon as it has closed: streams and idle connections do not hold it',
    async (platform, _how, end, ending) => {
      await using child = await startNodeChild(new URL('./shutdown-streams-script.ts', import.meta.url), {
        args: [server.connect, platform],
      });
      const port = Number((await child.next('listens', ofType('listens'), STARTED_WITHIN_MS))['port']);
      const agent = new Agent({ keepAlive: true });
      const streams = await Promise.all(['state', 'watch', 'events'].map((path) => openStream(port, path, agent)));
      await openStream(port, 'ping', agent).then(({ ended }) => ended);
      // Browsers open one ahead of need.
      const unused = connect(port, '127.0.0.1');
      await once(unused, 'connect');

      using stalls = Stalls.watch();
      const startedAt = performance.now();
      end(child);
      const texts = await within(CLOSED_WITHIN_MS, 'the streams end', Promise.all(streams.map(({ ended }) => ended)));
      expect(await within(CLOSED_WITHIN_MS, 'the process ends', child.ended)).toEqual(ending);
      expect(performance.now() - startedAt).toBeLessThan(CLOSED_WITHIN_MS + stalls.totalMs);

      // An end, and no error.
      expect(texts).toEqual(texts.map(() => expect.stringMatching(/^\s*(id: .*\n)?data: /)));
      for (const text of texts) expect(text).not.toContain('event: error');
      agent.destroy();
      unused.destroy();
    },
    TEST_MS,
  );
});

/** Resolves when the answer has begun. Its connection is kept for the next request. */
async function openStream(port: number, path: string, agent: Agent): Promise<{ readonly ended: Promise<string> }> {
  const request = get({ host: '127.0.0.1', port, path: `/${path}`, agent });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const ended = once(response, 'end').then(() => text);
  await eventually('something has come', () => /pong|data: /.test(text));
  return { ended };
}

describe('what an application is told of its locks while it closes', () => {
  it('is nothing more of the link and the keys, and events until the last holder is done', async () => {
    const { app, locks } = await startApplication({});
    const told: string[] = [];
    locks.connectionState$.subscribe({
      next: (state) => told.push(state),
      complete: () => told.push('no more states'),
    });
    const watched = new Gate();
    locks.watch('/locks/a').subscribe({
      next: ({ state }) => state === 'HELD' && void watched.pass(),
      complete: () => told.push('no more snapshots'),
    });
    locks.events$.subscribe({ next: ({ type }) => told.push(type), complete: () => told.push('no more events') });
    const lock = await locks.acquire('/locks/a');
    await watched.reached;

    const closing = app.close();
    await eventually('the others have ended', () => told.includes('no more snapshots'));
    expect(told).toEqual(['connected', 'acquired', 'no more states', 'no more snapshots']);
    expect([lock.isHeld(), locks.connectionState]).toEqual([true, 'connected']);
    const late: string[] = [];
    locks.connectionState$.subscribe({
      next: (state) => late.push(state),
      complete: () => late.push('no more states'),
    });
    expect(late).toEqual(['connected', 'no more states']);

    await lock.release();
    await closing;
    expect(told.slice(4)).toEqual(['released', 'no more events']);
    expect(locks.connectionState).toBe('closed');
    expect(await firstValueFrom(locks.connectionState$)).toBe('closed');
  });

  it('is that a lock was taken from its holder, before the events end', async () => {
    const { app, locks } = await startApplication({}, { shutdownGraceMs: 20 });
    const told: string[] = [];
    locks.events$.subscribe({ next: ({ type }) => told.push(type), complete: () => told.push('no more events') });
    await locks.acquire('/locks/a');
    await app.close();

    expect(told).toEqual(['acquired', 'lost', 'no more events']);
  });
});
