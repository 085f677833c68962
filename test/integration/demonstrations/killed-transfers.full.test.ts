import { describe } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { moneyIsConserved } from '../../support/recovery/money-is-conserved.js';

describe('Transfers between two files', () => {
  moneyIsConserved(new LockStage(), { rounds: 15, recovering: 20, careless: 5 });
});
