import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { sessionEndsContract } from './session-contract.js';
import { RealWorld } from './worlds/real-world.js';

describe('a native session on one server of its own, as its time runs out', () => {
  let world: RealWorld;
  beforeAll(async () => {
    world = await RealWorld.start(1, 'native');
  });
  afterEach(() => world.endTest());
  afterAll(() => world.stop());

  sessionEndsContract(() => world);
});
