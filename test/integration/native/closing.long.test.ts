import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openLockService, resolveOptions } from '../../../lib/open.js';
import { nativePackage } from '../../support/native/package-is-there.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

describe("The session of a client 'native'", () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    nativePackage();
    server = await startZooKeeper({ tickTimeMs: 500 });
  });
  afterAll(() => server.stop());

  it('counts as open where it is closed without an answer: the next connection closes it', async () => {
    const proxy = await startProxy({ target: server.port });
    const options = { connect: proxy.connect, client: 'native', sessionTimeoutMs: 10_000, serverTickMs: 500 } as const;
    const { service, session } = openLockService(resolveOptions(options));
    await service.acquire('/locks/held-to-the-end');
    expect((await server.dump()).sessionIds).toHaveLength(1);
    const lost = proxy.onRequest({ opcode: 'closeSession', action: 'holdRequest' });

    const closed = session.close(10_000);
    await lost.seen;
    await closed;

    expect((await server.dump()).sessionIds).toEqual([]);
    await proxy.stop();
  });
});
