import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Neighbour, startCurator, startKazoo } from '../support/neighbours/neighbour.js';
import { ofType, startNodeChild } from '../support/process/node-child.js';
import { InteropWorld } from './interop-world.js';

describe.each([
  ['Curator', startCurator],
  ['kazoo', startKazoo],
] as const)('with %s on the same key,', (_name, start) => {
  const key = '/crashes';
  let world: InteropWorld;
  let neighbour: Neighbour;
  beforeEach(async () => {
    ({ world, neighbour } = await InteropWorld.startWith(start));
  });
  afterEach(() => world?.stop());

  it('ours enters when a neighbour died inside, once its session has ended', async () => {
    await neighbour.hold('exclusive', key).held;
    const acquiring = world.locks.acquire(key);
    await world.queueOf(2, key);

    await neighbour.stop();

    const lock = await acquiring;
    expect(await world.queue(key)).toEqual([lock.nodePath.slice(key.length + 1)]);
    await lock.release();
  });

  it('a neighbour enters when a process of ours died inside', async () => {
    const script = new URL('./holder-script.ts', import.meta.url);
    await using ours = await startNodeChild(script, { args: [world.server.connect, key] });
    await ours.next('held', ofType('held'));
    const theirs = neighbour.hold('exclusive', key);
    await world.queueOf(2, key);

    await ours.kill();

    expect(await world.queueOf(1, key)).toEqual([await theirs.held]);
    await theirs.release();
  });

  it('ours enters when a neighbour that waited in front died', async () => {
    const first = await world.locks.acquire(key);
    neighbour.hold('exclusive', key);
    await world.queueOf(2, key);
    const acquiring = world.locks.acquire(key);
    await world.queueOf(3, key);

    await neighbour.stop();
    await world.queueOf(2, key);
    await first.release();

    await (await acquiring).release();
    expect(await world.queueOf(0, key)).toEqual([]);
  });
});
