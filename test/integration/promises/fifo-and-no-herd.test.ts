import { describe } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { queueOfManyWaiters } from '../../support/locks/many-waiters.js';

describe('FIFO and no herd', () => {
  const stage = new LockStage();
  queueOfManyWaiters(stage, { clients: 4, waiters: 200, withinMs: 90_000 });
});
