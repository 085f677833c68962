import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Neighbour, startCurator, startKazoo } from '../support/neighbours/neighbour.js';
import { handOversEachWay, InteropWorld } from './interop-world.js';

describe.each([
  ['kazoo', startKazoo],
  ['curator', startCurator],
] as const)('%s on the same key', (name, start) => {
  let world: InteropWorld;
  let neighbour: Neighbour;
  beforeAll(async () => {
    ({ world, neighbour } = await InteropWorld.startWith(start));
  });
  afterAll(() => world?.stop());

  it.each(['exclusive', 'write'] as const)(
    '(%s) and ours have one holder, FIFO, over 1 000 hand-overs each way',
    async (mode) => {
      const key = `/hand-overs/${mode}`;
      const cycles = [world.cycle(mode, key), neighbour.cycle(mode, key)];

      const verdict = await world.judgeCycles(key, cycles, handOversEachWay(1_000, name), 60_000);

      expect(verdict.violations).toEqual([]);
      expect(await world.queue(key)).toEqual([]);
    },
    90_000,
  );
});
