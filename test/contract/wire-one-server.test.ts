import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { faultsContract, happyPathsContract } from './session-contract.js';
import { RealWorld } from './worlds/real-world.js';

describe('a session on one server of its own:', () => {
  let world: RealWorld;
  beforeAll(async () => {
    world = await RealWorld.start(1);
  });
  afterEach(() => world.endTest());
  afterAll(() => world.stop());

  happyPathsContract(() => world);
  faultsContract(() => world);
});
