import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Neighbour, startCurator, startKazoo } from '../support/neighbours/neighbour.js';
import { handOversEachWay, InteropWorld } from './interop-world.js';

const EACH = [0, 1, 2, 3];

describe.each([
  ['curator', startCurator, ['write', 'read']],
  // Its readers and anybody's writers can wait for each other (see kazoo_neighbour.py): they would only count time-outs.
  ['kazoo', startKazoo, ['write']],
] as const)('a crowd of ours and of %s', (maker, start, theirModes) => {
  let world: InteropWorld;
  let neighbour: Neighbour;
  beforeEach(async () => {
    ({ world, neighbour } = await InteropWorld.startWith(start));
  });
  afterEach(() => world?.stop());

  it('has one holder of one mutex, FIFO', async () => {
    const cycles = EACH.flatMap(() => [world.cycle('exclusive', '/crowd'), neighbour.cycle('exclusive', '/crowd')]);

    const verdict = await world.judgeCycles('/crowd', cycles, handOversEachWay(1_000, maker), 120_000);

    expect(verdict.violations).toEqual([]);
    expect(await world.queue('/crowd')).toEqual([]);
  }, 150_000);

  it('has writers alone inside, and nobody overtaken, among readers and writers', async () => {
    const cycles = [
      ...EACH.flatMap(() => [world.cycle('write', '/crowd'), world.cycle('read', '/crowd')]),
      ...EACH.flatMap(() => theirModes.map((mode) => neighbour.cycle(mode, '/crowd'))),
    ];

    const verdict = await world.judgeCycles('/crowd', cycles, handOversEachWay(1_000, maker), 120_000);

    expect(verdict.violations).toEqual([]);
    expect(await world.queue('/crowd')).toEqual([]);
  }, 150_000);
});
