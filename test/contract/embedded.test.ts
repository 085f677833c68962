import { afterEach, beforeAll, describe } from '@jest/globals';
import { happyPathsContract } from './session-contract.js';
import { SharedWorld } from './worlds/shared-world.js';

describe('a session on the ensemble inside this process:', () => {
  let world: SharedWorld;
  beforeAll(() => {
    world = new SharedWorld('memory:contract');
  });
  afterEach(() => world.endTest());

  happyPathsContract(() => world);
});
