import { describe, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { HAND_OVER_MS, lossIsToldBeforeHandOver } from '../../support/locks/loss-before-hand-over.js';
import { SESSION_MS, TICK_MS } from '../../support/locks/times.js';
import type { ZooKeeperServer } from '../../support/zookeeper/server.js';

describe('Loss is told first, with three servers,', () => {
  const stage = new LockStage(3);

  // With the longer S several pings are answered between two heartbeats, also by a server that nobody else hears.
  it.each([
    { role: 'follower', sessionMs: 3 * SESSION_MS },
    { role: 'leader', sessionMs: SESSION_MS },
  ])(
    'a holder hears of it when a $role is cut off together with it',
    async ({ role, sessionMs }) => {
      const leader = await stage.ensemble.leader();
      const [follower] = await stage.ensemble.followers();
      const server = role === 'leader' ? leader : (follower as ZooKeeperServer);
      const others = stage.ensemble.others(server);
      const holder = await stage.open({ only: [server], sessionTimeoutMs: sessionMs });
      const other = await stage.open({ only: others, waitMs: 30_000 });
      try {
        // Followers go on believing in a leader that is gone for `syncLimit` ticks.
        const electionMs = role === 'leader' ? 10 * TICK_MS + 5_000 : 0;
        const cut = (): void => stage.ensemble.isolate(server);
        await lossIsToldBeforeHandOver(stage, holder, other, cut, sessionMs + HAND_OVER_MS + electionMs, sessionMs);
      } finally {
        stage.ensemble.heal(server);
        await stage.ensemble.waitForQuorum();
      }
      await holder.untilUp();
    },
    60_000,
  );
});
