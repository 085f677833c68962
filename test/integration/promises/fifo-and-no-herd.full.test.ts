import { describe } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { queueOfManyWaiters } from '../../support/locks/many-waiters.js';

describe('FIFO and no herd', () => {
  const stage = new LockStage();
  queueOfManyWaiters(stage, { clients: 8, waiters: 2_000, withinMs: 120_000 });
});
