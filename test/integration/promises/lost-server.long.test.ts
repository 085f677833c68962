import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import {
  LOST_SERVER_TICK_MS,
  loseTheirFollower,
  playHolders,
  slowDownTheirFollower,
} from '../../support/locks/lost-server.js';

const HOLDERS = 4;
const WITHIN_MS = 180_000;

describe('A lock is not lost with the server that its holder is connected to', () => {
  const stage = new LockStage(3, { tickTimeMs: LOST_SERVER_TICK_MS });

  it.each(['in silence', 'with a reset'] as const)(
    'it is kept where that goes %s',
    async (how) => {
      const outcomes = await playHolders(HOLDERS, (holders) => loseTheirFollower(stage, holders, how));
      expect(outcomes.filter(({ kept }) => !kept)).toEqual([]);
    },
    WITHIN_MS,
  );

  it.each(['pause', 'network'] as const)(
    'a server that is only slow is not left: %s',
    async (how) => {
      const outcomes = await playHolders(HOLDERS, (holders) => slowDownTheirFollower(stage, holders, how));
      expect(outcomes.filter(({ kept }) => !kept)).toEqual([]);
    },
    WITHIN_MS,
  );
});
