import { describe, expect, it } from '@jest/globals';
import { create, exists, get } from '../../../../lib/session/requests.js';
import { SimulatedWorld } from '../../../support/simulation/simulated-world.js';
import { RawClient, WATCH } from './support/raw-client.js';

const SESSION_EXPIRED = -112;

function given(settings = {}) {
  return new SimulatedWorld({ tickMs: 500, ...settings });
}

describe('sessions at a simulated ensemble', () => {
  it.each([
    [1, 1_000],
    [3_333, 3_333],
    [60_000, 10_000],
  ])('asked for with %i ms are granted %i ms: from two to twenty ticks', async (timeoutMs, granted) => {
    const client = await RawClient.connect(given(), 'a', 1, { timeoutMs });
    expect(client.granted?.timeoutMs).toBe(granted);
  });

  it('expire at the first whole tick after their time-out, by the clock of the leader', async () => {
    const world = given();
    const client = await RawClient.connect(world, 'a', 1, { timeoutMs: 2_000 });
    await world.runFor(700 - world.now());
    await client.ask(create('/e', 'ephemeral'));
    expect(world.now()).toBeLessThan(710);
    await world.runFor(2_990 - world.now());
    expect(world.stat('/e')).toBeDefined();
    await world.runFor(20);
    expect(world.stat('/e')).toBeUndefined();
    expect(world.sessions()).toEqual([]);
    await world.runUntil(() => client.closed !== undefined, 10);
  });

  it('live on pings', async () => {
    const world = given();
    const client = await RawClient.connect(world, 'a', 1, { timeoutMs: 2_000 });
    await client.ask(create('/e', 'ephemeral'));
    client.keepPinging(1_500);
    await world.runFor(60_000);
    expect(world.stat('/e')).toBeDefined();
    expect(client.closed).toBeUndefined();
  });

  it('end with all their ephemerals in one transaction, and tell those who watch', async () => {
    const world = given();
    const [holder, watcher] = [await RawClient.connect(world, 'a'), await RawClient.connect(world, 'b')];
    await holder.ask(create('/q', 'persistent'));
    await holder.ask(create('/q/one', 'ephemeral'));
    await holder.ask(create('/q/two', 'ephemeral'));
    await watcher.ask(get('/q/one', WATCH));
    await watcher.ask(get('/q/two', WATCH));
    const before = (await watcher.ask(exists('/q')))?.pzxid ?? 0n;
    await holder.control({ op: 'closeSession' });
    await world.runUntil(() => watcher.events.length === 2, 100);
    expect(world.stat('/q')).toMatchObject({ pzxid: before + 1n, numChildren: 0 });
    expect(world.sessions()).toEqual([watcher.sessionId]);
    await world.runUntil(() => holder.closed !== undefined, 100);
  });

  it('can be offered again by id and password, on a new connection, which closes the old one', async () => {
    const world = given();
    const first = await RawClient.connect(world, 'a');
    const again = await RawClient.connect(world, 'a', 1, { session: first.granted! });
    expect(again.granted).toEqual(first.granted);
    await world.runUntil(() => first.closed !== undefined, 100);
    expect((await again.ask(create('/e', 'ephemeral'))).stat.ephemeralOwner).toBe(first.sessionId);
  });

  it('have expired for those who do not know the password or come too late', async () => {
    const world = given();
    const client = await RawClient.connect(world, 'a');
    const wrong = { ...client.granted!, password: new Uint8Array(16) };
    const thief = await RawClient.connect(world, 'b', 1, { session: wrong });
    expect(thief.granted).toMatchObject({ timeoutMs: 0, sessionId: 0n });
    await world.runUntil(() => thief.closed !== undefined, 100);
    world.faults.expire(client.sessionId);
    await world.runUntil(() => client.closed !== undefined, 100);
    const late = await RawClient.connect(world, 'a', 1, { session: client.granted! });
    expect(late.granted?.timeoutMs).toBe(0);
  });

  it('are not heard by a server that is behind the client', async () => {
    const world = given();
    const client = await RawClient.connect(world, 'a');
    const ahead = await RawClient.connect(world, 'a', 1, { session: client.granted!, lastZxid: 1n << 40n });
    expect(ahead.granted).toBeUndefined();
    expect(ahead.closed?.message).toContain('later state');
  });

  it('refuse what comes between their end and its commit', async () => {
    const world = given({ logMs: 50 });
    const client = await RawClient.connect(world, 'a');
    world.faults.expire(client.sessionId);
    expect(await client.errorOf(exists('/'))).toBe(SESSION_EXPIRED);
    await expect(client.ask(create('/e', 'ephemeral'))).rejects.toThrow('ended');
    expect(world.stat('/e')).toBeUndefined();
  });

  it('are kept over a restart of the server, with a whole time-out from then on', async () => {
    const world = given();
    const client = await RawClient.connect(world, 'a', 1, { timeoutMs: 2_000 });
    await client.ask(create('/e', 'ephemeral'));
    world.faults.killServer(1);
    await world.runFor(30_000);
    expect(client.closed).toBeDefined();
    world.faults.startServer(1);
    await world.runFor(1_500);
    expect(world.stat('/e')).toBeDefined();
    const again = await RawClient.connect(world, 'a', 1, { session: client.granted! });
    expect(again.granted?.timeoutMs).toBe(8 * 250);
    expect((await again.ask(create('/f', 'ephemeral'))).stat.ephemeralOwner).toBe(client.sessionId);
  });
});
