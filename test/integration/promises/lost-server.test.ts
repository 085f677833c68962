import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { loseItsFollower, playRounds, slowDownItsFollower } from '../../support/locks/lost-server.js';

const ROUNDS = 3;
const SLOW_ROUNDS = 2;
const WITHIN_MS = 120_000;

describe('A lock is not lost with the server that its holder is connected to', () => {
  const stage = new LockStage(3);

  it.each(['in silence', 'with a reset'] as const)(
    'which goes %s',
    async (how) => {
      const rounds = await playRounds(ROUNDS, () => loseItsFollower(stage, how));
      expect(rounds.filter(({ kept }) => !kept)).toEqual([]);
    },
    WITHIN_MS,
  );

  it.each(['pause', 'network'] as const)(
    'and a server that is only slow is not left: %s',
    async (how) => {
      const rounds = await playRounds(SLOW_ROUNDS, () => slowDownItsFollower(stage, how));
      expect(rounds.filter(({ kept }) => !kept)).toEqual([]);
    },
    WITHIN_MS,
  );
});
