import { afterEach, beforeAll, describe } from '@jest/globals';
import { sharedConnect } from '../support/find-zookeeper/shared.js';
import { happyPathsContract } from './session-contract.js';
import { SharedWorld } from './worlds/shared-world.js';

describe('a session on the shared server:', () => {
  let world: SharedWorld;
  beforeAll(() => {
    world = new SharedWorld(sharedConnect());
  });
  afterEach(() => world.endTest());

  happyPathsContract(() => world);
});
