import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { stallTheLeader } from '../../support/locks/stalled-leader.js';

const TRIALS = 3;

describe('One holder: three servers', () => {
  const stage = new LockStage(3);

  it.each(Array.from({ length: TRIALS }, (_, index) => index + 1))(
    'when the way from the leader recovers from a stall and the way back is cut (trial %d)',
    async () => {
      const { besideMs, stalledMs } = await stallTheLeader(stage);
      expect(besideMs).toBeLessThanOrEqual(stalledMs);
    },
    120_000,
  );
});
