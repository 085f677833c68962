import { describe, expect, it } from '@jest/globals';
import { createLockService } from '../../lib/index.js';
import { blocks, settings } from '../support/production-page.js';
import { startEnsemble } from '../support/zookeeper/ensemble.js';

const WITHIN_MS = 120_000;

describe('With the zoo.cfg of the page about production', () => {
  it(
    "a lock of a session as long as by default is kept while the leader's machine is gone in silence",
    async () => {
      const [zooCfg = ''] = blocks('properties');
      await using ensemble = await startEnsemble({ extraConfig: settings(zooCfg) });
      const leader = await ensemble.leader();
      const connect = (await ensemble.followers()).map((server) => server.connect).join();
      await using locks = await createLockService({ connect });
      await using lock = await locks.acquire('/held');

      await leader.freeze();
      await using next = await locks.acquire('/wanted');
      expect(next.isHeld()).toBe(true);
      expect(lock.isHeld()).toBe(true);
      await leader.resume();
      await ensemble.waitForQuorum();
    },
    WITHIN_MS,
  );
});
