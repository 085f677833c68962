import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LockHandle } from '../../../lib/lock/handle.js';
import type { ContenderSnapshot } from '../../../lib/lock/snapshot.js';
import { type ClosableLockService, createLockService } from '../../../lib/open.js';
import { releaseMark } from '../../../lib/queue/node-name.js';
import { sessionIdText } from '../../../lib/session/session-id.js';
import { eventually } from '../../support/process/eventually.js';
import { type FaultProxy, startProxy } from '../../support/proxy/fault-proxy.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const KEY = '/lock';
const CONTENDERS = 10;

/** A fair lock as articles on ZooKeeper show it: ten clients ask for it at once, each with a session of its own. */
describe('ten contenders on one lock', () => {
  let server: StandaloneServer;
  let proxy: FaultProxy;
  const services: ClosableLockService[] = [];
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
    proxy = await startProxy({ target: server.port });
    const options = { connect: proxy.connect, serverTickMs: 500, sessionTimeoutMs: 8_000 };
    for (let index = 0; index < CONTENDERS; index += 1) services.push(await createLockService(options));
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.close(0)));
    await proxy?.stop();
    await server?.stop();
  });

  /** Who watches each node of the queue besides the one it belongs to, as the server says. */
  async function watchersOf(line: readonly ContenderSnapshot[]): Promise<Map<string, string[]>> {
    const watches = await server.watchesByPath();
    const owners = new Map(line.map(({ nodePath, sessionId }) => [nodePath, sessionId]));
    const others = new Map<string, string[]>();
    for (const [path, sessions] of watches) {
      const watchers = sessions.map(sessionIdText).filter((session) => session !== owners.get(path));
      if (path.startsWith(KEY) && !isMark(path) && watchers.length > 0) others.set(path, watchers);
    }
    return others;
  }

  /** By its mark a holder tells whoever waits for its node that it was the holder. */
  function isMark(path: string): boolean {
    return path.endsWith(releaseMark(''));
  }

  /** Each one's node, and behind it the session of the next. */
  function eachByTheNext(line: readonly ContenderSnapshot[]): Map<string, string[]> {
    return new Map(line.slice(0, -1).map(({ nodePath }, index) => [nodePath, [line[index + 1]!.sessionId]]));
  }

  it('each waits for its predecessor only, is told of nothing else, and enters in its turn', async () => {
    const entered: LockHandle[] = [];
    for (const [index, service] of services.entries()) {
      void service.acquire(KEY, { label: `contender ${index}` }).then((lock) => entered.push(lock));
    }
    const line = await eventually('all ten are in the queue', async () => {
      const { holders, queue } = await services[0]!.inspect(KEY);
      return holders.length + queue.length === CONTENDERS ? [...holders, ...queue] : undefined;
    });
    await eventually('nine wait', async () => (await watchersOf(line)).size === CONTENDERS - 1);
    expect(new Set(line.map(({ sessionId }) => sessionId)).size).toBe(CONTENDERS);
    expect(await watchersOf(line)).toEqual(eachByTheNext(line));

    for (const [index, { nodePath }] of line.entries()) {
      const lock = await eventually('the next one enters', () => entered[index]);
      expect(lock.nodePath).toBe(nodePath);
      expect(await watchersOf(line)).toEqual(eachByTheNext(line.slice(index)));
      await lock.release();
    }

    const told = proxy.notifications().map(({ path, sessionId }) => [path, sessionIdText(sessionId!)] as const);
    const byTheNext = [...eachByTheNext(line)].map(([path, [session]]) => [path, session] as const);
    expect(told.filter(([path]) => !isMark(path))).toEqual(byTheNext);
    const marks = byTheNext.map(([path, session]) => [releaseMark(path), session]);
    expect(marks).toEqual(expect.arrayContaining(told.filter(([path]) => isMark(path))));
    expect((await services[0]!.inspect(KEY)).state).toBe('FREE');
    expect((await watchersOf([])).size).toBe(0);
  });
});
