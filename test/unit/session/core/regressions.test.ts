import { describe, expect, it } from '@jest/globals';
import { isUp } from '../../../../lib/session/connection-state.js';
import { SessionClient } from '../../../../lib/session/core/session-client.js';
import { WatchRegistry } from '../../../../lib/session/core/watch-registry.js';
import { create, get, type WatchEvent } from '../../../../lib/session/requests.js';
import { SimulatedWorld } from '../../../support/simulation/simulated-world.js';
import { serve } from '../../support/serving.js';
import { SessionWorld, settings, stat } from '../../support/session-world.js';
import { replyTo } from '../../../support/sessions/reply-to.js';

/** Each of these was wrong once. */
describe('A watcher that is taken back while others are told', () => {
  const told: string[] = [];
  const second = { onWatchEvent: ({ type }: WatchEvent): void => void told.push(type) };

  it('is not told of the end of the session', () => {
    const registry = new WatchRegistry();
    registry.add('data', '/a', { onWatchEvent: () => void registry.remove('/b', second) });
    registry.add('data', '/b', second);
    registry.tellLost();
    expect(told).toEqual([]);
  });
});

describe('Watches taken back', () => {
  it('are not taken back twice when a request for the same path was under way', async () => {
    const world = SessionWorld.connected();
    const [first, second] = [{ onWatchEvent: () => undefined }, { onWatchEvent: () => undefined }];
    const found = { data: new Uint8Array(), stat: stat() };
    const watched = replyTo(world.client, get('/a', first));
    world.link.answer(found);
    await watched;
    const under = replyTo(world.client, get('/a', second));
    world.client.unwatch('/a', first);
    world.link.answer(found);
    await under;
    world.client.unwatch('/a', second);
    const failing = expect(replyTo(world.client, get('/a'))).rejects.toMatchObject({ code: 'NO_NODE' });
    world.link.answer(undefined);
    world.link.answer(-101);
    await failing;
    expect(world.link.operations().filter((operation) => operation === 'removeWatches')).toHaveLength(1);
  });
});

describe('A chroot', () => {
  it('is looked for again where a server was too busy', async () => {
    const world = new SessionWorld({ chroot: '/app' });
    world.link.grant(10_000);
    world.link.answer(-127);
    world.link.answer(-127);
    const second = await world.nextLink();
    expect(world.client.failure).toBeUndefined();
    expect(second).not.toBe(world.dialer.links[0]);
  });

  it('is not left by a node without a name', async () => {
    const world = SessionWorld.connected({ chroot: '' });
    await expect(replyTo(world.client, create('', 'persistent-sequential'))).rejects.toMatchObject({
      code: 'BAD_ARGUMENTS',
    });
    const simulated = new SimulatedWorld();
    const process = simulated.process('p');
    const { clock, random } = process;
    const overrides = { servers: simulated.servers, chroot: '/app', serverTickMs: 2_000, clock, random };
    const session = new SessionClient(settings(world.clock, overrides), process.dialer());
    await simulated.runUntil(() => isUp(session.state));
    const made = simulated.settle(replyTo(session, create('/', 'persistent-sequential')));
    await expect(made).rejects.toMatchObject({ code: 'BAD_ARGUMENTS' });
    expect(simulated.children('/')).not.toContain('app0000000000');
  });
});

describe('A proof of life that no write can bring', () => {
  it.each([0.5, 5])(
    'settles although the way to the servers eats up what is asked for: %f ms too much',
    async (underMs) => {
      const world = new SessionWorld();
      serve({ clock: world.clock, dialer: world.dialer, grantMs: 10_000, latencyMs: () => 5 });
      await world.clock.advance(4_100);
      const refused = expect(world.client.proveLife(10_000 - 200 - 2_000 - underMs)).rejects.toMatchObject({
        code: 'BAD_ARGUMENTS',
      });
      await world.clock.advance(30_000);
      await refused;
    },
  );

  it('settles after another server has granted the session more, which is not believed', async () => {
    const world = new SessionWorld({ serverTickMs: 500 });
    serve({ clock: world.clock, dialer: world.dialer, grantMs: 4_000, latencyMs: () => 1 });
    await world.clock.advance(100);
    world.link.hangUp();
    serve({ clock: world.clock, dialer: world.dialer, grantMs: 20_000, latencyMs: () => 1 });
    await world.clock.advance(1_000);
    await expect(world.client.proveLife(6_000)).rejects.toMatchObject({ code: 'BAD_ARGUMENTS' });
  });
});

describe('After the servers were wiped', () => {
  it('the new session survives a cut: it does not claim to have seen what only the old one saw', async () => {
    const world = new SimulatedWorld();
    const process = world.process('p');
    const { clock, random } = process;
    const base = settings(SessionWorld.connected().clock, {
      servers: world.servers,
      serverTickMs: 2_000,
      clock,
      random,
    });
    const session = new SessionClient(base, process.dialer());
    await world.runUntil(() => isUp(session.state));
    for (let count = 0; count < 30; count += 1) {
      await world.settle(replyTo(session, create('/a-', 'persistent-sequential')));
    }
    const first = session.identity;
    world.faults.wipe();
    await world.runUntil(() => isUp(session.state) && session.identity !== first);
    const second = session.identity;
    world.faults.suspend(process);
    await world.runUntil(() => !isUp(session.state));
    await world.runUntil(() => isUp(session.state));
    expect(session.identity).toBe(second);
  });
});
