import { describe, expect, it } from '@jest/globals';
import { create, exists, get } from '../../../../lib/session/requests.js';
import { SimulatedWorld } from '../../../support/simulation/simulated-world.js';
import { RawClient } from './support/raw-client.js';

async function given(settings = {}) {
  const world = new SimulatedWorld(settings);
  return { world, client: await RawClient.connect(world, 'a'), process: world.process('a') };
}

describe('a simulated link', () => {
  it('says nothing before dial has returned, and opens after a round trip', async () => {
    const world = new SimulatedWorld({ clientLatencyMs: 20 });
    const client = RawClient.dial(world, 'a');
    expect(client.log).toEqual([]);
    await world.runUntil(() => client.isOpen, 100);
    expect(world.now()).toBe(40);
  });

  it('tells of activity once for all frames of a segment, before them', async () => {
    const { world, client } = await given();
    const from = client.log.length;
    await world.settle(Promise.all([client.send(exists('/')), client.send(exists('/zookeeper'))]));
    expect(client.log.slice(from).map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'activity',
      'reply exists 0',
      'reply exists 0',
    ]);
  });

  it('says nothing after destroy, even in the middle of a segment', async () => {
    const { world, client } = await given();
    const first = client.send(exists('/')).then(() => undefined);
    client.send(exists('/')).catch(() => undefined);
    client.afterReply = () => client.link.destroy();
    await world.settle(first);
    await world.runFor(100);
    expect(client.log.filter((line) => line.includes('reply'))).toHaveLength(1);
    expect(client.closed).toBeUndefined();
    expect(world.process('a').connectedTo).toEqual([]);
  });

  it('lets what was queued leave before it goes', async () => {
    const { world, client } = await given();
    client.send(create('/last', 'persistent')).catch(() => undefined);
    client.link.destroy();
    await world.runFor(10);
    expect(world.stat('/last')).toBeDefined();
    expect(world.ensemble.server(1).connections.size).toBe(0);
  });

  it('knows the newest transaction that a reply has shown', async () => {
    const { client } = await given();
    expect(client.link.lastZxid).toBe(0n);
    const { stat } = await client.ask(create('/x', 'persistent'));
    expect(client.link.lastZxid).toBe(stat.czxid);
  });

  it('puts the chroot in front of every path', async () => {
    const { world, client } = await given();
    await client.ask(create('/app', 'persistent'));
    expect(await world.settle(client.send(create('/x', 'persistent'), '/app'))).toMatchObject({ path: '/app/x' });
    expect(await world.settle(client.send(get('/'), '/app'))).toMatchObject({ stat: { numChildren: 1 } });
  });

  it('refuses a frame that is larger than servers take, and sends nothing', async () => {
    const { world, client } = await given();
    expect(client.link.send(1, create('/big', 'persistent', Buffer.alloc(1_048_600)), '')).toBe(false);
    await client.ask(create('/large', 'persistent', Buffer.alloc(1_048_000)));
    expect(world.children('/')).toEqual(['zookeeper', 'large']);
  });

  it('is refused by a dead server, and never opens to a name that nobody has', async () => {
    const { world } = await given();
    world.faults.killServer(1);
    const refused = RawClient.dial(world, 'b');
    await world.runUntil(() => refused.closed !== undefined, 100);
    const unknown = RawClient.dial(world, 'b', 9);
    await world.runUntil(() => unknown.closed !== undefined, 100);
    expect([refused.isOpen, unknown.isOpen]).toEqual([false, false]);
  });

  it('loses the reply of one request that is carried out', async () => {
    const { world, client, process } = await given();
    const loss = world.faults.loseReplyOfNext(process, 'create');
    await client.ask(exists('/'));
    await expect(client.ask(create('/done', 'persistent'))).rejects.toThrow('reset');
    expect(loss.hasHappened).toBe(true);
    expect(world.stat('/done')).toBeDefined();
    const again = await RawClient.connect(world, 'a', 1, { session: client.granted! });
    expect(await again.errorOf(create('/next', 'persistent'))).toBe(0);
  });

  it('loses one request on its way', async () => {
    const { world, client, process } = await given();
    world.faults.loseNextRequest(process, 'create');
    await expect(client.ask(create('/never', 'persistent'))).rejects.toThrow('reset');
    await world.runFor(100);
    expect(world.stat('/never')).toBeUndefined();
  });

  it.each([
    ['to-server', false],
    ['to-client', true],
  ] as const)('swallows what goes %s, and delivers it when it passes again', async (direction, isDone) => {
    const { world, client, process } = await given();
    world.faults.blackHole(process, direction);
    const created = client.send(create('/x', 'persistent'));
    await world.runFor(1_000);
    expect(world.stat('/x') !== undefined).toBe(isDone);
    expect(client.log.filter((line) => line.includes('reply'))).toEqual([]);
    world.faults.pass(process);
    await world.settle(created);
    expect(world.stat('/x')).toBeDefined();
  });

  it('does not open through a black hole', async () => {
    const { world, process } = await given();
    world.faults.blackHole(process);
    const client = RawClient.dial(world, 'a');
    await world.runFor(5_000);
    expect(client.log).toEqual([]);
    client.link.destroy();
    world.faults.pass(process);
    await world.runFor(100);
    expect(client.log).toEqual([]);
    expect(world.ensemble.server(1).connections.size).toBe(1);
  });

  it('is refused for as long as its client is', async () => {
    const { world, client, process } = await given();
    world.faults.refuse(process);
    await world.runUntil(() => client.closed !== undefined, 100);
    const refused = await RawClient.connect(world, 'a');
    expect(refused.closed?.message).toContain('refused');
    world.faults.accept(process);
    expect((await RawClient.connect(world, 'a')).closed).toBeUndefined();
  });
});
