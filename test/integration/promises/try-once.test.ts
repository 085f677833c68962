import { expect, it } from '@jest/globals';
import { createLockService } from '../../../lib/open.js';
import { startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

it('a service whose waitMs is 0 starts, locks and upgrades: the time is for the locks of others', async () => {
  await using server = await startZooKeeper();
  await using locks = await createLockService({
    connect: server.connect,
    sessionTimeoutMs: 6_000,
    serverTickMs: 500,
    waitMs: 0,
  });
  await using lock = await locks.acquire('/locks/a', { mode: 'upgradeable' });
  await lock.upgrade();
  expect(lock.mode).toBe('write');
});
