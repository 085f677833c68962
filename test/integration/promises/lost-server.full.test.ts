import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { LOST_SERVER_TICK_MS, loseTheirFollower, playHolders } from '../../support/locks/lost-server.js';

const HOLDERS = 40;
const AT_ONCE = 8;

describe('A lock is not lost with the server that its holder is connected to', () => {
  const stage = new LockStage(3, { tickTimeMs: LOST_SERVER_TICK_MS });

  it.each([
    ['in silence', HOLDERS / 20],
    ['with a reset', 0],
  ] as const)(
    'it is kept where that goes %s',
    async (how, most) => {
      const outcomes = await playHolders(HOLDERS, (holders) =>
        loseTheirFollower(stage, Math.min(holders, AT_ONCE), how),
      );
      expect(outcomes.filter(({ kept }) => !kept).length).toBeLessThanOrEqual(most);
    },
    900_000,
  );
});
