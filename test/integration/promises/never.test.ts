import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { LONG_SESSION_MS, SESSION_MS, SHORTEST_SESSION_MS, SLACK_MS, TICK_MS } from '../../support/locks/times.js';
import { within } from '../../support/process/eventually.js';
import { type NodeChild, ofType, startNodeChild } from '../../support/process/node-child.js';
import { type FaultProxy, startProxy } from '../../support/proxy/fault-proxy.js';
import { startFakeServer } from '../../support/sessions/wire-session.js';

/** Once close has resolved. */
const EXITS_MS = 200;
const EXPIRES_MS = SESSION_MS + TICK_MS + SLACK_MS;

interface Preparation {
  readonly sessionMs?: number;
  readonly prepare?: (proxy: FaultProxy, key: string) => unknown;
}

interface Scene {
  readonly child: NodeChild;
  readonly proxy: FaultProxy;
  readonly key: string;
}

/** Never process.exit, console, or an unhandled rejection: the process ends by itself, and has printed our report only. */
describe('Never process.exit, console, or an unhandled rejection,', () => {
  const stage = new LockStage();

  it('a service closes while connecting', async () => {
    await using silent = await startFakeServer((socket) => socket.resume());
    const script = new URL('../../support/locks/closing-process.ts', import.meta.url);
    const args = [`127.0.0.1:${silent.port}`, stage.freshKey(), 'connecting', `${SESSION_MS}`];
    await using child = await startNodeChild(script, { args });
    await child.next('ready', ofType('ready'));
    expect(await reportOf(child)).toMatchObject({ outcomes: { acquire: 'LOCK_CLOSED' } });
  });

  it('a service closes while acquiring', async () => {
    await using scene = await start('acquiring', {
      prepare: (proxy, key) =>
        proxy.onRequest({ opcode: 'create2', path: new RegExp(`^${key}/`), action: 'holdReply' }),
    });
    await scene.child.next('ready', ofType('ready'));
    await stage.untilQueueHas(scene.key, 1);
    expect(await reportOf(scene.child)).toMatchObject({ outcomes: { acquire: 'LOCK_CLOSED' } });
    scene.proxy.releaseRules();
    await stage.untilQueueHas(scene.key, 0, EXPIRES_MS);
  });

  it('a service closes while waiting', async () => {
    const other = await stage.open();
    await using scene = await start('waiting');
    const lock = await other.service.acquire(scene.key);
    await scene.child.next('ready', ofType('ready'));
    await stage.untilQueueHas(scene.key, 2);
    expect(await reportOf(scene.child)).toMatchObject({ outcomes: { acquire: 'LOCK_CLOSED' } });
    await stage.untilQueueHas(scene.key, 1, SLACK_MS);
    expect(lock.isHeld()).toBe(true);
    await lock.release();
  });

  it('a service closes while holding, and the next one has the lock at once', async () => {
    const other = await stage.open();
    await using scene = await start('holding');
    await scene.child.next('ready', ofType('ready'));
    const waiting = other.service.acquire(`${scene.key}/held`);
    await stage.untilQueueHas(`${scene.key}/held`, 2);
    const report = reportOf(scene.child);
    const next = await within(SLACK_MS, 'the hand-over', waiting);
    expect(await report).toMatchObject({ isHeld: false });
    await next.release();
  });

  it('a service closes while suspended, and the nodes go with the session', async () => {
    await using scene = await start('suspended', { sessionMs: SHORTEST_SESSION_MS });
    await scene.child.next('ready', ofType('ready'));
    await scene.proxy.refuse();
    scene.proxy.cut();
    scene.child.send({ type: 'await suspension' });
    await scene.child.next('suspended', ofType('suspended'));
    expect(await reportOf(scene.child)).toMatchObject({ isHeld: false });
    await stage.untilQueueHas(`${scene.key}/held`, 0, EXPIRES_MS);
  });

  it.each(['refused', 'in a black hole'])('a service closes after a loss, the link still %s', async (how) => {
    await using scene = await start('lost', { sessionMs: SHORTEST_SESSION_MS });
    await scene.child.next('ready', ofType('ready'));
    if (how === 'refused') {
      await scene.proxy.refuse();
      scene.proxy.cut();
    } else scene.proxy.swallow('both');
    scene.child.send({ type: 'await loss' });
    await scene.child.next('lost', ofType('lost'));
    expect(await reportOf(scene.child)).toMatchObject({ isHeld: false });
    await stage.untilQueueHas(`${scene.key}/held`, 0, EXPIRES_MS);
  });

  it.each(['up', 'cut', 'in a black hole'])('a service closes with everything under way, the link %s', async (how) => {
    const other = await stage.open();
    await using scene = await start('busy', {
      sessionMs: how === 'up' ? LONG_SESSION_MS : SESSION_MS,
      prepare: async (_proxy, key) => {
        await other.service.acquire(key);
        await other.service.acquire(`${key}/upgradeable`, { mode: 'read' });
      },
    });
    await scene.child.next('ready', ofType('ready'));
    await stage.untilQueueHas(`${scene.key}/upgradeable`, 3);
    if (how === 'cut') {
      await scene.proxy.refuse();
      scene.proxy.cut();
      scene.child.send({ type: 'await suspension' });
      await scene.child.next('suspended', ofType('suspended'));
    } else if (how === 'in a black hole') scene.proxy.swallow('both');

    const { outcomes } = await reportOf(scene.child);
    const { upgrade, ...others } = outcomes;
    // Its lock is taken from it.
    expect(upgrade).toMatch(/^LOCK_(CLOSED|LOST)$/);
    expect(others).toEqual({
      acquire: 'LOCK_CLOSED',
      withLock: 'LOCK_CLOSED',
      acquireAll: 'LOCK_CLOSED',
      transaction: 'LOCK_CLOSED',
      read: 'LOCK_CLOSED',
    });
    await stage.untilQueueHas(`${scene.key}/upgradeable`, 1, EXPIRES_MS);
    await stage.untilQueueHas(`${scene.key}/held`, 0);
    await stage.untilQueueHas(`${scene.key}/other`, 0);
  });

  async function start(
    state: string,
    { sessionMs = LONG_SESSION_MS, prepare }: Preparation = {},
  ): Promise<Scene & AsyncDisposable> {
    const proxy = await startProxy({ target: stage.server.port });
    const key = stage.freshKey();
    await prepare?.(proxy, key);
    const script = new URL('../../support/locks/closing-process.ts', import.meta.url);
    const child = await startNodeChild(script, { args: [proxy.connect, key, state, `${sessionMs}`] });
    const end = async (): Promise<void> => {
      await child.kill();
      proxy.releaseRules();
      proxy.cut();
      await proxy.stop();
    };
    return { child, proxy, key, [Symbol.asyncDispose]: end };
  }
});

interface Report {
  readonly outcomes: Record<string, string>;
  readonly isHeld: boolean;
}

/** Has the child close, and waits for its end. */
async function reportOf(child: NodeChild): Promise<Report> {
  child.send({ type: 'close' });
  const ending = await within(10_000, 'the process ends', child.ended);
  expect({ ending, output: child.output() }).toMatchObject({ ending: { code: 0, signal: null } });
  const report = JSON.parse(child.output()) as Report & Record<string, number | string>;
  expect(report).toMatchObject({ state: 'closed', code: 0 });
  expect(report['closeMs']).toBeLessThan(2_500);
  expect(report['settledMs']).toBeLessThan(50);
  expect(report['exitMs']).toBeLessThan(EXITS_MS);
  return report;
}
