import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLockService } from '../../../lib/open.js';
import { eventually, within } from '../../support/process/eventually.js';
import { startNodeChild } from '../../support/process/node-child.js';
import { type Certificates, createCertificates } from '../../support/zookeeper/certificates.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';

/** The sessions of the processes last ten seconds: what is gone so soon was taken away by them. */
const SOON_MS = 4_000;

describe('Every promise settles: before withLock or a decorated method resolves, its removal is on the socket', () => {
  let server: StandaloneServer;
  let certificates: Certificates;
  let keys = 0;
  beforeAll(async () => {
    certificates = await createCertificates();
    server = await startZooKeeper({ tickTimeMs: 500, tls: { certificates, clientAuth: 'none' } });
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    await certificates.remove();
  });

  function freshKey(): string {
    keys += 1;
    return `/locks/ends-${keys}`;
  }

  async function contenders(key: string): Promise<string[]> {
    const nodes = [...(await server.dump()).ephemerals.values()].flat();
    return nodes.filter((path) => path.startsWith(key));
  }

  async function endBehind(way: string, end: string, key: string, secure = false): Promise<void> {
    const script = new URL('../../support/locks/ending-process.ts', import.meta.url);
    const connect = secure ? `localhost:${server.securePort}` : server.connect;
    const env: Record<string, string> = secure ? { ZOOKEEPER_CA: certificates.ca } : {};
    const child = await startNodeChild(script, { args: [connect, key, way, end], env });
    const { code } = await within(30_000, 'the process ends', child.ended);
    expect([code, child.output().includes('right behind the lock')]).toEqual(end === 'throw' ? [1, true] : [0, false]);
  }

  it.each([
    ['withLock', 'exit'],
    ['withLock', 'throw'],
    ['withLock that fails', 'exit'],
    ['withLock of an upgraded lock', 'exit'],
    ['withLock with lock-delay', 'exit'],
    ['withLock of many', 'exit'],
    ['@Locked', 'exit'],
    ['@Locked', 'throw'],
    ['@Locked that fails', 'exit'],
  ])(
    'a process that ends right behind %s (%s) leaves no lock',
    async (way, end) => {
      const key = freshKey();
      await endBehind(way, end, key);
      await eventually('the locks are given back', async () => (await contenders(key)).length === 0, {
        withinMs: SOON_MS,
      });
    },
    60_000,
  );

  it.each(['withLock', 'withLock of many'])(
    'a process that ends right behind %s leaves no lock over TLS',
    async (way) => {
      const key = freshKey();
      await endBehind(way, 'exit', key, true);
      await eventually('the locks are given back', async () => (await contenders(key)).length === 0, {
        withinMs: SOON_MS,
      });
    },
    60_000,
  );

  it('the next one enters at once', async () => {
    const key = freshKey();
    await endBehind('withLock', 'exit', key);
    await using locks = await createLockService({ connect: server.connect, sessionTimeoutMs: 10_000 });
    await using lock = await locks.acquire(key, { waitMs: SOON_MS });
    expect(lock.isHeld()).toBe(true);
  }, 60_000);

  it('a place in the queue is removed in the same way, when a wait was in vain', async () => {
    const key = freshKey();
    await using locks = await createLockService({ connect: server.connect, sessionTimeoutMs: 10_000 });
    await using lock = await locks.acquire(key);
    await endBehind('withLock that waits in vain', 'exit', key);
    await eventually('its place is gone', async () => (await contenders(key)).length === 1, { withinMs: SOON_MS });
    expect(await contenders(key)).toEqual([lock.nodePath]);
  }, 60_000);
});
