import { describe, expect, it } from '@jest/globals';
import { create, get, list, sync } from '../../../../lib/session/requests.js';
import { promisesSettled } from '../../support/manual-clock.js';
import { SessionWorld, stat } from '../../support/session-world.js';
import { replyTo } from '../../../support/sessions/reply-to.js';

/** Nothing of a closed session stays behind. */
function expectAtRest(world: SessionWorld): void {
  expect(world.client.state).toBe('closed');
  expect(world.states.filter((state) => state === 'closed')).toHaveLength(1);
  expect(world.clock.timers).toBe(0);
  expect(world.dialer.open).toEqual([]);
  expect(world.client.identity).toBeUndefined();
  expect(world.client.certainUntil()).toBe(-Infinity);
}

describe('The close of a session that is up', () => {
  it('ends the session at the servers, then the connection', async () => {
    const world = SessionWorld.connected();
    const closed = world.client.close();
    expect(world.link.operations()).toEqual(['closeSession']);
    world.link.answer();
    await closed;
    expectAtRest(world);
  });

  it('leaves nothing certain from the call on: the servers may end the session at any moment', () => {
    const world = SessionWorld.connected();
    const letGo = world.client.keepCertain();
    void world.client.close();
    expect(world.client.certainUntil()).toBe(-Infinity);
    letGo();
  });

  it('takes no longer than it may when the server is silent, heartbeat or not', async () => {
    const world = SessionWorld.connected();
    world.client.keepCertain();
    await world.clock.advance(3_000);
    world.link.reply(-2, undefined);
    let over = false;
    void world.client.close(1_000).then(() => (over = true));
    await world.clock.advance(999);
    expect(over).toBe(false);
    await world.clock.advance(1);
    expect(over).toBe(true);
    expectAtRest(world);
  });

  it('ends the session over another link when the link goes away before the answer', async () => {
    const world = SessionWorld.connected();
    const closed = world.client.close();
    world.link.hangUp();
    const second = await world.nextLink();
    second.grant(10_000);
    expect(second.sent.map(({ request }) => request.op)).toEqual(['closeSession']);
    second.answer();
    await closed;
    expectAtRest(world);
  });

  it('lets the calls before it be answered, or settle as closed, and refuses later ones', async () => {
    const world = SessionWorld.connected();
    const answered = replyTo(world.client, sync('/'));
    const open = world.client.batch([get('/a'), list('/b')]);
    const closed = world.client.close(500);
    await expect(replyTo(world.client, sync('/'))).rejects.toMatchObject({ code: 'CLOSED' });
    world.link.answer();
    await expect(answered).resolves.toBeUndefined();
    await world.clock.advance(500);
    await closed;
    expect(await open).toMatchObject([{ code: 'CLOSED' }, { code: 'CLOSED' }]);
    expectAtRest(world);
  });

  it('is told to whoever waits for a proof of life, before and after', async () => {
    const world = SessionWorld.connected();
    world.clock.block(9_900);
    world.link.reply(-2, undefined);
    const before = expect(world.client.proveLife()).rejects.toMatchObject({ code: 'CLOSED' });
    const closed = world.client.close(100);
    const during = expect(world.client.proveLife()).rejects.toMatchObject({ code: 'CLOSED' });
    // At once: no time has passed.
    await Promise.all([before, during]);
    await world.clock.advance(100);
    await closed;
    await expect(world.client.proveLife()).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('tells watches that they are lost', async () => {
    const world = SessionWorld.connected();
    const events: string[] = [];
    void replyTo(world.client, get('/a', { onWatchEvent: ({ type }) => events.push(type) }));
    world.link.answer({ data: new Uint8Array(0), stat: stat() });
    const closed = world.client.close();
    world.link.answer();
    await closed;
    expect(events).toEqual(['lost']);
  });

  it('may be asked for many times, and after the end', async () => {
    const world = SessionWorld.connected();
    const closing = [world.client.close(), world.client.close(5)];
    expect(world.link.operations()).toEqual(['closeSession']);
    world.link.answer();
    await Promise.all(closing);
    await world.client.close();
    expectAtRest(world);
  });

  it('completes the stream of states', async () => {
    const world = SessionWorld.connected();
    const completed = new Promise<void>((resolve) => world.client.state$.subscribe({ complete: resolve }));
    void world.client.close();
    world.link.answer();
    await completed;
  });
});

describe('The close of a session in any other state', () => {
  it('ends before anything was reached', async () => {
    const world = new SessionWorld();
    await world.client.close();
    expectAtRest(world);
  });

  it('ends while the first handshake is not answered', async () => {
    const world = new SessionWorld();
    world.link.open();
    await world.client.close();
    expectAtRest(world);
  });

  it('ends in the pause between rounds', async () => {
    const world = new SessionWorld();
    world.link.refuse();
    await world.client.close();
    expectAtRest(world);
  });

  it('ends when suspended, and the session comes back to be ended, if that can be done in time', async () => {
    const world = SessionWorld.connected();
    world.link.hangUp();
    const closed = world.client.close(1_000);
    const link = await world.nextLink(900);
    link.grant(10_000);
    expect(link.offer?.sessionId).toBe(0x1234n);
    await promisesSettled();
    expect(link.operations()).toEqual(['closeSession']);
    link.answer();
    await closed;
    expectAtRest(world);
    expect(world.states).not.toContain('reconnected');
  });

  it.each(['refuse', 'hangUp', 'open'] as const)(
    'ends within the time when suspended, with servers that only %s',
    async (doing) => {
      const world = SessionWorld.connected();
      world.dialer.onDial = (link) => link[doing]();
      world.link.hangUp();
      await world.clock.advance(60);
      const closed = world.client.close(1_000);
      await world.clock.advance(1_000);
      await closed;
      expectAtRest(world);
    },
  );

  it('ends when lost, and in the middle of a probe', async () => {
    const world = SessionWorld.connected();
    await world.loseTouch();
    (await world.nextLink()).refuse();
    await promisesSettled();
    world.link.grant(10_000, 0x7777n);
    const closed = world.client.close(200);
    await world.clock.advance(200);
    await closed;
    expectAtRest(world);
  });

  it('ends when the session is found to have ended meanwhile', async () => {
    const world = SessionWorld.connected();
    world.link.hangUp();
    const closed = world.client.close(1_000);
    (await world.nextLink(900)).expire();
    await closed;
    expectAtRest(world);
  });

  it('ends when called from within a subscriber, at each state', async () => {
    for (const when of ['connected', 'suspended', 'lost', 'reconnected'] as const) {
      const world = new SessionWorld();
      world.client.state$.subscribe((state) => {
        if (state === when) void world.client.close(300);
      });
      world.link.grant(10_000);
      world.client.keepCertain();
      void replyTo(world.client, create('/a', 'ephemeral')).catch(() => undefined);
      if (when !== 'connected') {
        world.link.hangUp();
        const link = await world.nextLink();
        if (when === 'lost') link.expire();
        else link.grant(10_000);
      }
      await world.clock.advance(300);
      expectAtRest(world);
    }
  });
});
