import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { nativeGapsContract } from './promises/native-gaps.js';
import { ensembleContract, faultsContract, happyPathsContract, sessionEndsContract } from './session-contract.js';
import { NATIVE_GAPS } from './worlds/gaps.js';
import { RealWorld } from './worlds/real-world.js';

describe('a native session on three servers of its own:', () => {
  let world: RealWorld;
  beforeAll(async () => {
    world = await RealWorld.start(3, 'native');
  });
  afterEach(() => world.endTest());
  afterAll(() => world.stop());

  happyPathsContract(() => world, NATIVE_GAPS);
  faultsContract(() => world, NATIVE_GAPS);
  sessionEndsContract(() => world);
  ensembleContract(() => world);
  nativeGapsContract(() => world);
});
