import { describe, expect, it } from '@jest/globals';
import { create, exists, get, sync } from '../../../../lib/session/requests.js';
import { SimulatedWorld } from '../../../support/simulation/simulated-world.js';
import { RawClient } from './support/raw-client.js';

const TIMEOUT_MS = 2_000;
const TICK_MS = 500;
const SYNC_LIMIT_TICKS = 10;

async function given(where: 'leader' | 'follower') {
  const world = new SimulatedWorld({ servers: 3, tickMs: TICK_MS, syncLimitTicks: SYNC_LIMIT_TICKS });
  const [follower = 0, other = 0] = world.followerIds;
  const leader = world.leaderId ?? 0;
  const home = where === 'leader' ? leader : follower;
  const client = await RawClient.connect(world, 'cut off', home, { timeoutMs: TIMEOUT_MS });
  await client.ask(create('/e', 'ephemeral'));
  client.keepPinging(400);
  await world.runFor(1_234);
  return { world, client, home, leader, follower, other };
}

function lastAnswerAt(client: RawClient): number {
  return Number(client.log.findLast((line) => line.includes('reply'))?.split(' ')[0]);
}

describe('a simulated server cut off with its client', () => {
  it('goes on answering as a follower, long after the leader has expired the session', async () => {
    const { world, client, home, leader } = await given('follower');
    const cutAt = world.now();
    world.faults.isolate(home);
    await world.runUntil(() => world.stat('/e', leader) === undefined, 10_000);
    const goneAfter = world.now() - cutAt;
    expect(goneAfter).toBeGreaterThan(TIMEOUT_MS - TICK_MS / 2);
    expect(goneAfter).toBeLessThan(TIMEOUT_MS + TICK_MS);
    expect(await client.errorOf(exists('/e'))).toBe(0);
    await world.runUntil(() => client.closed !== undefined, 20_000);
    const servedFor = lastAnswerAt(client) - cutAt;
    expect(servedFor).toBeGreaterThan((SYNC_LIMIT_TICKS - 1) * TICK_MS);
    expect(servedFor).toBeLessThan((SYNC_LIMIT_TICKS + 1) * TICK_MS);
  });

  it('commits nothing as a follower, and holds back what the session asked behind its write', async () => {
    const { world, client, home } = await given('follower');
    world.faults.isolate(home);
    client.send(create('/f', 'ephemeral')).catch(() => undefined);
    await world.runFor(10);
    const answeredAt = lastAnswerAt(client);
    await world.runFor(3_000);
    expect(lastAnswerAt(client)).toBe(answeredAt);
  });

  it('goes on answering as the old leader, also a sync, but commits nothing', async () => {
    const { world, client, home } = await given('leader');
    const cutAt = world.now();
    world.faults.isolate(home);
    await client.ask(sync('/'));
    await client.ask(get('/e'));
    const stranger = await RawClient.connect(world, 'stranger', home).catch(() => undefined);
    expect(stranger).toBeUndefined();
    await world.runUntil(() => client.closed !== undefined, 20_000);
    expect(lastAnswerAt(client) - cutAt).toBeGreaterThan((SYNC_LIMIT_TICKS - 2) * TICK_MS);
    expect(lastAnswerAt(client) - cutAt).toBeLessThan((SYNC_LIMIT_TICKS + 2) * TICK_MS);
  });

  it('is replaced as leader by the others, who expire its sessions a whole time-out later', async () => {
    const { world, home, follower, other } = await given('leader');
    world.faults.isolate(home);
    await world.runUntil(() => [follower, other].includes(world.leaderId ?? 0), 20_000);
    const since = world.now();
    await world.runUntil(() => world.stat('/e') === undefined, 5_000);
    expect(world.now() - since).toBeGreaterThanOrEqual(TIMEOUT_MS);
    const rival = await RawClient.connect(world, 'rival', follower);
    await rival.ask(create('/e', 'ephemeral'));
    world.faults.heal();
    await world.runUntil(() => world.stat('/e', home)?.ephemeralOwner === rival.sessionId, 20_000);
  });

  it('keeps everything when it is healed in time', async () => {
    const { world, client, home } = await given('follower');
    world.faults.isolate(home);
    await world.runFor(1_000);
    world.faults.heal();
    await world.runFor(10_000);
    expect(client.closed).toBeUndefined();
    expect((await client.ask(create('/f', 'ephemeral'))).stat.ephemeralOwner).toBe(client.sessionId);
  });

  it('leaves the sessions of an ensemble without a majority alone, for as long as it takes', async () => {
    const { world, client } = await given('follower');
    world.faults.dropQuorum();
    await world.runFor(60_000);
    expect(client.closed).toBeDefined();
    world.faults.restoreQuorum();
    await world.runUntil(() => world.ensemble.isServing && world.ensemble.isWhole, 20_000);
    const again = await RawClient.connect(world, 'cut off', 2, { session: client.granted! });
    expect((await again.ask(exists('/e')))?.ephemeralOwner).toBe(client.sessionId);
  });

  it('is lost by its clients when it stands still, and its sessions with it', async () => {
    const { world, client, home, leader } = await given('follower');
    world.faults.freezeServer(home);
    await world.runUntil(() => world.stat('/e', leader) === undefined, 10_000);
    const late = RawClient.dial(world, 'late', home);
    await world.runUntil(() => late.isOpen, 100);
    late.link.handshake({ sessionId: 0n, password: new Uint8Array(16), timeoutMs: 2_000, lastZxid: 0n });
    await world.runFor(3_000);
    expect(late.granted).toBeUndefined();
    world.faults.thawServer(home);
    await world.runUntil(() => client.closed !== undefined, 10_000);
  });
});
