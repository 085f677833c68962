import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { faultsContract, happyPathsContract } from './session-contract.js';
import { nativeGapsContract } from './promises/native-gaps.js';
import { NATIVE_GAPS } from './worlds/gaps.js';
import { RealWorld } from './worlds/real-world.js';

describe('a native session on one server of its own:', () => {
  let world: RealWorld;
  beforeAll(async () => {
    world = await RealWorld.start(1, 'native');
  });
  afterEach(() => world.endTest());
  afterAll(() => world.stop());

  happyPathsContract(() => world, NATIVE_GAPS);
  faultsContract(() => world, NATIVE_GAPS);
  nativeGapsContract(() => world);
});
