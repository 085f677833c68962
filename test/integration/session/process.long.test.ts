import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, within } from '../../support/process/eventually.js';
import { ofType, startNodeChild } from '../../support/process/node-child.js';
import { startFakeServer } from '../../support/sessions/wire-session.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';

const TIMEOUT_MS = 3_000;

describe('a process', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
  });
  afterAll(() => server.stop());

  it('finds certainty gone in its first line of code after it stood still for longer than S, the node gone too', async () => {
    const script = new URL('./holder-script.ts', import.meta.url);
    await using child = await startNodeChild(script, {
      args: [`${server.port}`, `${TIMEOUT_MS}`, `${0.75 * TIMEOUT_MS}`],
    });
    const ready = await child.next('ready', ofType('ready'));
    expect(ready['certain']).toBe(true);

    await child.pause();
    await eventually('the servers have ended the session', async () => {
      return !(await server.dump()).sessionIds.includes(ready['sessionId'] as bigint);
    });
    await child.resume();

    const woke = await child.next('woke', ofType('woke'));
    expect(woke).toMatchObject({ certain: false });
    child.send('report');
    const report = await child.next('report', ofType('report'));
    expect(report).toMatchObject({ held: false });
    expect(report['sessionId']).not.toBe(ready['sessionId']);
  });

  it('keeps its session after it stood still for half of S', async () => {
    const script = new URL('./holder-script.ts', import.meta.url);
    await using child = await startNodeChild(script, { args: [`${server.port}`, '8000', '3000'] });
    const ready = await child.next('ready', ofType('ready'));

    await child.pause();
    const stoppedAt = performance.now();
    await eventually('half of S has passed', () => performance.now() - stoppedAt > 4_000);
    await child.resume();

    await child.next('woke', ofType('woke'));
    child.send('report');
    expect(await child.next('report', ofType('report'))).toMatchObject({ held: true, sessionId: ready['sessionId'] });
  });

  it.each(['connected', 'connecting'])('ends by itself within 200 ms of a close while %s', async (when) => {
    await using silent = await startFakeServer((socket) => socket.resume());
    const port = when === 'connected' ? server.port : silent.port;
    const script = new URL('./exit-script.ts', import.meta.url);
    const child = await startNodeChild(script, { args: [`${port}`, when] });

    const ending = await within(15_000, 'the process ends', child.ended);

    expect(ending).toEqual({ code: 0, signal: null });
    expect(child.output()).toMatch(/^\d+\n$/);
    expect(Number(child.output())).toBeLessThan(200);
  });
});
