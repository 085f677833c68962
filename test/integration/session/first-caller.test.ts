import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLockService } from '../../../lib/open.js';
import { ContextCensus } from '../../support/process/context-census.js';
import { eventually } from '../../support/process/eventually.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';

const KEY = '/locks/stock';

describe('a connection that a call opens', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
  });
  afterAll(() => server.stop());

  it('is no part of that call, nor is the next one after a cut', async () => {
    await using proxy = await startProxy({ target: server.port });
    const census = new ContextCensus();
    const options = { connect: proxy.connect, serverTickMs: 500, startup: 'lazy' as const };
    await using locks = await census.run(() => createLockService(options));
    const contexts: unknown[] = [];
    const states: string[] = [];
    locks.connectionState$.subscribe((state) => {
      states.push(state);
      contexts.push(census.current);
    });
    for (let calls = 0; calls < 10; calls += 1) await census.run(() => locks.withLock(KEY, () => undefined));
    proxy.cut();
    await census.run(() => locks.withLock(KEY, () => undefined));
    await eventually('the link is back', () => states.includes('reconnected'));
    for (let calls = 0; calls < 10; calls += 1) await census.run(() => locks.withLock(KEY, () => undefined));

    expect(contexts.filter((context) => context !== undefined)).toEqual([]);
    await eventually('no call is kept', async () => (await census.retained()) === 0);
    expect(census.size).toBe(22);
  });

  it('keeps nothing of 40 000 calls that ended while no server was there', async () => {
    await using proxy = await startProxy({ target: server.port });
    const census = new ContextCensus();
    await using locks = await createLockService({ connect: proxy.connect, serverTickMs: 500 });
    await proxy.refuse();
    proxy.cut();
    await eventually('the link is down', () => locks.connectionState === 'suspended');
    let failed = 0;
    const fail = (): number => (failed += 1);
    const fourThousand = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 4_000 }, () => census.run(() => locks.acquire(KEY, { waitMs: 1 }).catch(fail))));
    while (failed < 40_000) await fourThousand();
    expect([failed, await census.retained()]).toEqual([40_000, 0]);
    expect(['suspended', 'lost']).toContain(locks.connectionState);
  }, 180_000);
});
