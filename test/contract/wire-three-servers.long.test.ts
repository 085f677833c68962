import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { ensembleContract, faultsContract, happyPathsContract, sessionEndsContract } from './session-contract.js';
import { RealWorld } from './worlds/real-world.js';

describe('a session on three servers of its own:', () => {
  let world: RealWorld;
  beforeAll(async () => {
    world = await RealWorld.start(3);
  });
  afterEach(() => world.endTest());
  afterAll(() => world.stop());

  happyPathsContract(() => world);
  faultsContract(() => world);
  sessionEndsContract(() => world);
  ensembleContract(() => world);
});
