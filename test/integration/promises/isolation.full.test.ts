import { describe } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { manyKeys } from '../../support/locks/many-keys.js';

describe('Isolation', () => {
  manyKeys(new LockStage(), 5_000, 8_000);
});
