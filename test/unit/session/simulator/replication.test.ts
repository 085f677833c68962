import { describe, expect, it } from '@jest/globals';
import { create, exists, get, list, set, sync } from '../../../../lib/session/requests.js';
import { SimulatedWorld, type WorldSettings } from '../../../support/simulation/simulated-world.js';
import { RawClient, WATCH } from './support/raw-client.js';

const NO_NODE = -101;

function given(settings: WorldSettings = {}) {
  const world = new SimulatedWorld({ servers: 3, tickMs: 500, syncLimitTicks: 10, ...settings });
  const [follower = 0, other = 0] = world.followerIds;
  return { world, leader: world.leaderId ?? 0, follower, other };
}

describe('several simulated servers', () => {
  it('start with a leader that everybody follows', () => {
    const { world, leader, follower, other } = given();
    expect([leader, follower, other].sort()).toEqual([1, 2, 3]);
    expect(world.now()).toBeLessThan(100);
  });

  it('all come to the same tree', async () => {
    const { world, leader, follower, other } = given();
    const client = await RawClient.connect(world, 'a', follower);
    const { stat } = await client.ask(create('/n-', 'ephemeral-sequential', Buffer.from('x')));
    expect(stat.czxid >> 32n).toBe(1n);
    await world.runFor(10);
    for (const id of [leader, follower, other]) expect(world.stat('/n-0000000000', id)).toEqual(stat);
  });

  it('answer a read from what the follower has, which is old, and from the leader behind a sync', async () => {
    const { world, leader, follower } = given();
    const reader = await RawClient.connect(world, 'reader', follower);
    const writer = await RawClient.connect(world, 'writer', leader);
    world.faults.lag(follower, 400);
    await writer.ask(create('/x', 'persistent'));
    expect(await reader.errorOf(exists('/x'))).toBe(NO_NODE);
    await reader.ask(sync('/'));
    expect(await reader.errorOf(exists('/x'))).toBe(0);
  });

  it('answer a session in order: a read behind its own write sees it, at a follower that lags, too', async () => {
    const { world, follower } = given();
    const client = await RawClient.connect(world, 'a', follower);
    world.faults.lag(follower, 400);
    const created = client.send(create('/q', 'persistent'));
    const listed = client.send(list('/q'));
    const ping = client.send({ op: 'ping' });
    await world.settle(Promise.all([created, listed, ping]));
    expect(client.log.filter((line) => line.includes('reply')).map((line) => line.split(' ')[2])).toEqual([
      'create',
      'list',
      'ping',
    ]);
    expect(world.now()).toBeGreaterThan(400);
  });

  it('let others go on while one session waits for its write', async () => {
    const { world, follower } = given();
    const [one, two] = [await RawClient.connect(world, 'a', follower), await RawClient.connect(world, 'b', follower)];
    world.faults.holdCommits();
    const waiting = one.send(create('/q', 'persistent'));
    const behind = one.send(get('/'));
    await two.ask(get('/'));
    expect(one.log.filter((line) => line.includes('reply'))).toEqual([]);
    world.faults.releaseCommits();
    await world.settle(Promise.all([waiting, behind]));
  });

  it('show a create whose reply was lost only after a while, unless a sync comes first', async () => {
    for (const isSynced of [false, true]) {
      const { world, follower, other } = given();
      const first = await RawClient.connect(world, 'a', follower);
      world.faults.holdCommits();
      const lost = first.send(create('/lock-', 'ephemeral-sequential')).catch((error: Error) => error.message);
      await world.runFor(20);
      world.faults.suspend(world.process('a'));
      expect(await world.settle(lost)).toContain('reset');
      const again = await RawClient.connect(world, 'a', other, { session: first.granted! });
      expect((await again.ask(list('/'))).children).toEqual(['zookeeper']);
      const synced = isSynced ? again.send(sync('/')) : undefined;
      const listed = isSynced ? again.send(list('/')) : undefined;
      await world.runFor(20);
      world.faults.releaseCommits();
      if (synced === undefined) await world.runFor(20);
      await world.settle(Promise.all([synced, listed]));
      expect(await (listed ?? again.ask(list('/')))).toMatchObject({ children: ['zookeeper', 'lock-0000000000'] });
      const { stat } = await again.ask(create('/lock-', 'ephemeral-sequential'));
      expect([world.stat('/lock-0000000000')?.ephemeralOwner, stat.ephemeralOwner]).toEqual([
        first.sessionId,
        first.sessionId,
      ]);
    }
  });

  it('refuse a write that was under way when its session moved to another server', async () => {
    const { world, leader, follower } = given({ peerLatencyMs: 50 });
    const first = await RawClient.connect(world, 'a', follower);
    first.send(create('/late', 'ephemeral')).catch(() => undefined);
    await world.runFor(2);
    world.faults.suspend(world.process('a'));
    await RawClient.connect(world, 'a', leader, { session: first.granted! });
    await world.runFor(500);
    expect(world.stat('/late')).toBeUndefined();
  });

  it('elect another when the leader dies: every committed write and every session is still there', async () => {
    const { world, leader, follower } = given();
    const client = await RawClient.connect(world, 'a', follower);
    const before = await client.ask(create('/e', 'ephemeral'));
    world.faults.killServer(leader);
    await world.runUntil(() => client.closed !== undefined && world.leaderId !== undefined, 2_000);
    const again = await RawClient.connect(world, 'a', follower, {
      session: client.granted!,
      lastZxid: client.link.lastZxid,
    });
    expect((await again.ask(exists('/e')))?.czxid).toBe(before.stat.czxid);
    const after = await again.ask(create('/f', 'ephemeral'));
    expect(after.stat.czxid >> 32n).toBe(2n);
    world.faults.startServer(leader);
    await world.runUntil(() => world.stat('/f', leader) !== undefined, 2_000);
    expect(world.stat('/f', leader)).toEqual(after.stat);
  });

  it('forget a proposal that only a dead leader has logged, also when that one comes back', async () => {
    const { world, leader, follower, other } = given();
    const client = await RawClient.connect(world, 'a', leader);
    world.faults.isolate(leader);
    client.send(create('/never', 'persistent')).catch(() => undefined);
    await world.runFor(50);
    world.faults.killServer(leader);
    await world.runUntil(() => world.leaderId !== undefined, 10_000);
    world.faults.heal();
    world.faults.startServer(leader);
    await world.runUntil(() => world.ensemble.isWhole, 10_000);
    for (const id of [leader, follower, other]) expect(world.stat('/never', id)).toBeUndefined();
  });

  it('keep a proposal that the next leader has logged, though its client never heard of it', async () => {
    const { world, leader, follower } = given();
    const client = await RawClient.connect(world, 'a', leader);
    world.faults.holdCommits();
    client.send(create('/kept', 'persistent')).catch(() => undefined);
    await world.runFor(20);
    world.faults.killServer(leader);
    world.faults.releaseCommits();
    await world.runUntil(() => world.leaderId !== undefined, 2_000);
    await world.runFor(20);
    expect(world.stat('/kept', follower)).toBeDefined();
  });

  it('bring watch events at the time at which the watching server learns of the change', async () => {
    const { world, leader, follower } = given();
    const watcher = await RawClient.connect(world, 'watcher', follower);
    const writer = await RawClient.connect(world, 'writer', leader);
    await writer.ask(create('/w', 'persistent'));
    await watcher.ask(sync('/'));
    await watcher.ask(get('/w', WATCH));
    world.faults.lag(follower, 300);
    await writer.ask(set('/w', Buffer.from('x')));
    const writtenAt = world.now();
    await world.runUntil(() => watcher.events.length === 1, 1_000);
    expect(world.now() - writtenAt).toBeGreaterThan(250);
  });

  it('expire a session that a follower has told the leader nothing of for its time-out', async () => {
    const { world, follower } = given();
    const client = await RawClient.connect(world, 'a', follower, { timeoutMs: 2_000 });
    await client.ask(create('/e', 'ephemeral'));
    const silentSince = world.now();
    await world.runUntil(() => world.stat('/e') === undefined, 5_000);
    // Up to half a tick until the touch reached the leader, up to a tick until sessions are looked at.
    expect(world.now() - silentSince).toBeGreaterThan(2_000);
    expect(world.now() - silentSince).toBeLessThan(2_800);
  });
});
