import { afterEach, beforeEach, describe } from '@jest/globals';
import {
  ensembleContract,
  exactTimeContract,
  faultsContract,
  happyPathsContract,
  sessionEndsContract,
} from './session-contract.js';
import { SimulatedContractWorld } from './worlds/simulated-world.js';

describe.each([undefined, 1, 2])('a session on three simulated servers, with the chances of seed %p', (seed) => {
  let world: SimulatedContractWorld;
  beforeEach(() => {
    world = new SimulatedContractWorld({ servers: 3, chroot: '/fleet/blue', ...(seed === undefined ? {} : { seed }) });
  });
  afterEach(() => world.endTest());

  happyPathsContract(() => world);
  faultsContract(() => world);
  sessionEndsContract(() => world);
  exactTimeContract(() => world);
  ensembleContract(() => world);
});
