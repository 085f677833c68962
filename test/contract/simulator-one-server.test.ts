import { afterEach, beforeEach, describe } from '@jest/globals';
import { exactTimeContract, faultsContract, happyPathsContract, sessionEndsContract } from './session-contract.js';
import { SimulatedContractWorld } from './worlds/simulated-world.js';

describe('a session on one simulated server:', () => {
  let world: SimulatedContractWorld;
  beforeEach(() => {
    world = new SimulatedContractWorld({ servers: 1 });
  });
  afterEach(() => world.endTest());

  happyPathsContract(() => world);
  faultsContract(() => world);
  sessionEndsContract(() => world);
  exactTimeContract(() => world);
});
