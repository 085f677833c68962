import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLockService } from '../../../lib/index.js';
import { nativePackage } from '../../support/native/package-is-there.js';
import { eventually } from '../../support/process/eventually.js';
import { type NodeChild, ofType, startNodeChild } from '../../support/process/node-child.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const SCRIPT = new URL('../../support/native/application-process.ts', import.meta.url);
const FAILING = new URL('../../support/native/failing-package-process.ts', import.meta.url);
const ENDING = new URL('../../support/locks/ending-process.ts', import.meta.url);
const SESSION_TIMEOUT_MS = 4_000;
/** The package gives a silent server up after two thirds of the session time-out. */
const SILENT_MS = (SESSION_TIMEOUT_MS * 2) / 3 + 300;

describe("The thread of the client 'native'", () => {
  let server: StandaloneServer;
  let echo: Server;
  let child: NodeChild | undefined;
  beforeAll(async () => {
    nativePackage();
    server = await startZooKeeper({ tickTimeMs: 500 });
    echo = createServer((socket) => socket.on('error', () => socket.destroy()).pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
  });
  afterEach(async () => {
    await child?.kill();
    child = undefined;
  });
  afterAll(async () => {
    echo.close();
    await server.stop();
  });

  async function application(how: 'native' | 'in the main thread', connect: string): Promise<NodeChild> {
    child = await startNodeChild(SCRIPT, { args: [how, connect, String((echo.address() as AddressInfo).port)] });
    await child.next('ready', ofType('ready'));
    return child;
  }

  /** How many connections of an application do not hear any more, after ZooKeeper was silent for a while. */
  async function deafSockets(how: 'native' | 'in the main thread'): Promise<number> {
    const proxy = await startProxy({ target: server.port });
    try {
      const app = await application(how, proxy.connect);
      proxy.swallow('both');
      app.send({ type: 'open', durationMs: SILENT_MS });
      await app.next('opened', ofType('opened'));
      await proxy.pass();
      proxy.cut();
      const back = eventually('it is back', () => proxy.counts().connections > 2, { everyMs: 20 });
      // In the main thread the package may make its own connection deaf, too.
      await (how === 'native' ? back : back.catch(() => undefined));
      await new Promise((resolve) => setTimeout(resolve, SESSION_TIMEOUT_MS / 2));
      app.send({ type: 'ask' });
      return Number((await app.next('asked', ofType('asked'))).deaf);
    } finally {
      await child?.kill();
      await proxy.stop();
    }
  }

  it('leaves the connections of the application alone, where the package itself makes one deaf', async () => {
    expect(await deafSockets('native')).toBe(0);
    // Whether a new connection gets the number of the closed one is up to the kernel and to the moment.
    let deaf = 0;
    for (let tries = 0; deaf === 0 && tries < 5; tries += 1) deaf = await deafSockets('in the main thread');
    expect(deaf).toBeGreaterThan(0);
  });

  it.each([0, 3])('lets the process end with the code %i of process.exit()', async (code) => {
    const app = await application('native', server.connect);

    app.send({ type: 'exit', code });

    expect(await app.ended).toEqual({ code, signal: null });
  });

  it('lets the process end by an error of its own, and not by an abort', async () => {
    const app = await application('native', server.connect);

    app.send({ type: 'throw' });

    expect(await app.ended).toEqual({ code: 1, signal: null });
    expect(app.output()).toContain('An application ends in many ways.');
  });

  it('takes an exception inside of the package for the end of its connections, and not of the process', async () => {
    child = await startNodeChild(FAILING, { args: [server.connect] });

    expect(await child.next('told', ofType('told'))).toMatchObject({
      told: ['up', 'down'],
      causes: ['its thread failed: Error: inside the package. It begins anew'],
    });
    expect(await child.ended).toEqual({ code: 0, signal: null });
  });

  it('has sent the removal when withLock resolves behind a wait: a process that ends there leaves no lock', async () => {
    const key = '/locks/behind-a-wait';
    const contenders = async (): Promise<number> =>
      [...(await server.dump()).ephemerals.values()].flat().filter((path) => path.startsWith(`${key}/`)).length;
    await using locks = await createLockService({ connect: server.connect, sessionTimeoutMs: SESSION_TIMEOUT_MS });
    const held = await locks.acquire(key);
    const env = { CLIENT_UNDER_TEST: 'native' };
    child = await startNodeChild(ENDING, { args: [server.connect, key, 'withLock', 'exit'], env });
    await eventually('the process waits', async () => (await contenders()) === 2);

    await held.release();

    expect(await child.ended).toEqual({ code: 0, signal: null });
    // Its session lasts ten seconds: what is gone so soon was taken away by it.
    await eventually('its lock is given back', async () => (await contenders()) === 0, { withinMs: 4_000 });
  });

  it('lets go of the session of a process that hangs for good, so that its locks are free', async () => {
    const app = await application('native', server.connect);
    const isHeld = async (): Promise<boolean> =>
      [...(await server.dump()).ephemerals.values()].flat().some((path) => path.startsWith(`/locks/held-${app.pid}/`));
    await eventually('the lock is held', isHeld);

    app.send({ type: 'hang' });

    await eventually('the lock is free', async () => !(await isHeld()), { withinMs: 3 * SESSION_TIMEOUT_MS });
    expect(app.isRunning).toBe(true);
  });
});
