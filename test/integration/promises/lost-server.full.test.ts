import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { loseItsFollower, playRounds } from '../../support/locks/lost-server.js';

const ROUNDS = 40;

describe('A lock is not lost with the server that its holder is connected to', () => {
  const stage = new LockStage(3);

  it.each([
    ['in silence', ROUNDS / 20],
    ['with a reset', 0],
  ] as const)(
    'which goes %s',
    async (how, most) => {
      const rounds = await playRounds(ROUNDS, () => loseItsFollower(stage, how));
      expect(rounds.filter(({ kept }) => !kept).length).toBeLessThanOrEqual(most);
    },
    900_000,
  );
});
