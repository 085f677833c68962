import { expect, it } from '@jest/globals';
import type { ServerOptions } from '../zookeeper/options.js';
import { Load } from './load.js';
import type { LockStage } from './lock-stage.js';

/** A new leader that waits in vain for a follower gives up after so many ticks; with the default that takes 10 s. */
export const SOON_ELECTED: ServerOptions = { initLimit: 6 };

/** Registers the test: leaders die under load, and come back. */
export function killedLeaders(stage: LockStage, times: number): void {
  it(
    `nobody else holds while the leader is killed ${times} times under load`,
    async () => {
      const clients = await Promise.all([1, 2, 3].map(() => stage.open({ waitMs: 60_000 })));
      const keys = [stage.freshKey(), stage.freshKey(), stage.freshKey()];
      const load = new Load(clients, { keys });
      await load.untilAllKeysGranted(5, 15_000);
      for (let round = 0; round < times; round += 1) {
        const leader = await stage.ensemble.leader();
        await leader.kill();
        await stage.ensemble.leader();
        await load.untilAllKeysGranted(5, 30_000);
        await leader.start();
        await stage.ensemble.waitForQuorum();
      }
      await load.untilAllKeysGranted(5, 15_000);
      await load.stop();

      expect(load.violations).toEqual([]);
      expect(load.failures.map(String)).toEqual([]);
      expect(load.surprises).toEqual([]);
      // Each was given to waiters of more than one service.
      for (const { grants } of load.witnesses.values())
        expect(new Set(grants.map(({ who }) => who)).size).toBeGreaterThan(1);
      for (const key of keys) await stage.untilQueueHas(key, 0);
    },
    30_000 + times * 30_000,
  );
}
