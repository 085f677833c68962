import { describe, expect, it } from '@jest/globals';
import { create, remove } from '../../lib/session/requests.js';
import { SimulatedWorld } from '../support/simulation/simulated-world.js';
import { RawClient } from '../unit/session/simulator/support/raw-client.js';

/** Found by schedules: seeds break the simulator as well as what runs on it. */
describe('The simulator under several faults at once', () => {
  it('carries out commits in order on a follower that lagged and stood still', async () => {
    const world = new SimulatedWorld({ servers: 3, tickMs: 500 });
    const [follower = 0] = world.followerIds;
    const writer = await RawClient.connect(world, 'writer', world.leaderId);
    world.faults.lag(follower, 200);
    await writer.ask(create('/x', 'persistent'));
    await world.runFor(100);
    world.faults.freezeServer(follower);
    world.faults.lag(follower, 0);
    await writer.ask(create('/x/y', 'persistent'));
    await world.runFor(200);
    world.faults.thawServer(follower);
    await world.runFor(200);
    expect(world.children('/x', follower)).toEqual(['y']);
  });

  it('jumps the sequence of a node whose removal is under way', async () => {
    const world = new SimulatedWorld({ servers: 3, tickMs: 500 });
    const writer = await RawClient.connect(world, 'writer', world.leaderId);
    await writer.ask(create('/x', 'persistent'));
    world.faults.holdCommits();
    const removed = writer.send(remove('/x'));
    await world.runFor(20);
    world.faults.jumpSequence('/x', 7);
    world.faults.releaseCommits();
    await world.settle(removed);
    await world.runFor(20);
    expect(world.stat('/x')).toBeUndefined();
  });
});
