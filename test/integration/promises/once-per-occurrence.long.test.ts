import { describe } from '@jest/globals';
import { oncePerTick } from '../../support/locks/once-per-tick.js';

describe('A job that three instances start by clocks of 0, +400 and -400 ms', () => {
  oncePerTick(10);
});
