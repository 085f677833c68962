import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLockService } from '../../../lib/open.js';
import { exists } from '../../../lib/session/requests.js';
import { eventually } from '../../support/process/eventually.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import { closeOpenSessions, openWire, untilUp } from '../../support/sessions/wire-session.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { replyTo } from '../../support/sessions/reply-to.js';

describe('No litter', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500, containerCheckIntervalMs: 200 });
  });
  afterAll(async () => {
    await closeOpenSessions();
    await server.stop();
  });

  it.each([
    ['its contender', /-lock-/, ['/shop', '/shop/cold']],
    ['the container below it', /^\/store\/cold$/, ['/store']],
  ])('a container is removed when %s never arrived', async (_what, path, left) => {
    await using proxy = await startProxy({ target: server.port });
    await using locks = await createLockService({ connect: proxy.connect, serverTickMs: 500 });
    const eye = openWire([server.port]);
    await untilUp(eye);
    const rule = proxy.onRequest({ opcode: ['createContainer', 'create2'], path, action: 'dropRequest' });
    const failed = locks.acquire(`${left[0]!}/cold`, { waitMs: 1_000 }).catch((error: { code: string }) => error.code);
    await rule.seen;
    await proxy.refuse();
    expect(await failed).toBe('LOCK_UNAVAILABLE');
    const there = await eye.batch(left.map((container) => exists(container)));
    expect(there.at(-1)).toMatchObject({ cversion: 0 });

    await proxy.pass();
    await eventually('the containers are gone', async () => (await replyTo(eye, exists(left[0]!))) === undefined);
  });
});
