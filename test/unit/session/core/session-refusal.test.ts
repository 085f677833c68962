import { describe, expect, it } from '@jest/globals';
import { AUTH_XID, PING_XID } from '../../../../lib/session/core/link.js';
import { PASSWORD, type ScriptedLink } from '../../support/scripted-dialer.js';
import { promisesSettled } from '../../support/manual-clock.js';
import { SessionWorld, stat, THREE_SERVERS } from '../../support/session-world.js';

/** A server that does not take our session, as it knows less than we have seen, but takes new ones. */
function wiped(link: ScriptedLink): void {
  link.open();
  if (link.offer?.sessionId === 0n) link.grant(10_000, 0x5555n);
  else if (link.offer?.lastZxid === 0n) link.expire();
  else link.hangUp(new Error('client has seen a newer state'));
}

async function outOfTouch(overrides = {}): Promise<SessionWorld> {
  const world = SessionWorld.connected(overrides);
  world.link.lastZxid = 77n;
  await world.loseTouch();
  return world;
}

describe('A server that refuses the handshake', () => {
  it('is no reason to doubt the session while it may live: before S has passed only ours is offered', async () => {
    const world = SessionWorld.connected();
    world.dialer.onDial = (link) => link.refuse();
    world.link.hangUp();
    await world.clock.advance(9_000);
    expect(world.dialer.links.length).toBeGreaterThan(5);
    expect(world.dialer.links.slice(1).every(({ offer }) => offer?.sessionId === 0x1234n)).toBe(true);
  });

  it('is no reason to doubt the session after an earlier cut that healed: S is counted from the newest one', async () => {
    const world = SessionWorld.connected();
    world.link.hangUp();
    (await world.nextLink()).grant(10_000);
    for (let step = 0; step < 6; step += 1) {
      await world.clock.advance(2_000);
      world.link.reply(PING_XID, undefined);
    }
    const before = world.dialer.links.length;
    world.dialer.onDial = (link) => link.refuse();
    world.link.hangUp();
    await world.clock.advance(9_000);
    expect(world.dialer.links.slice(before).every(({ offer }) => offer?.sessionId === 0x1234n)).toBe(true);
  });

  it('never costs the session, if it serves nobody, however long: it is still offered when it serves again', async () => {
    const world = await outOfTouch({ servers: THREE_SERVERS });
    const { identity } = world.client;
    world.dialer.onDial = (link) => link.refuse();
    await world.clock.advance(120_000);
    expect(world.dialer.links.some(({ offer }) => offer?.sessionId === 0n)).toBe(true);
    expect(world.client.identity).toBe(identity);
    world.dialer.onDial = (link) => {
      link.open();
      if (link.offer?.sessionId === 0n) link.hangUp();
      else link.grant(10_000);
    };
    await world.clock.advance(5_000);
    expect(world.client.state).toBe('reconnected');
    expect(world.client.identity).toBe(identity);
  });

  it('is asked for a new session, unlike one that cannot be reached or is silent', async () => {
    for (const doing of ['hangUp', 'open'] as const) {
      const world = await outOfTouch({ servers: THREE_SERVERS });
      world.dialer.onDial = (link) => link[doing]();
      await world.clock.advance(120_000);
      // What would be offered shows when one opens at last.
      const offers = world.dialer.links.slice(1).map(({ offer }) => offer?.sessionId ?? 0x1234n);
      expect(offers.length).toBeGreaterThan(10);
      expect(new Set(offers)).toEqual(new Set([0x1234n]));
      world.dialer.onDial = (link) => link.grant(10_000, 0x9999n);
      for (const link of world.dialer.open) link.hangUp();
      await world.clock.advance(20_000);
      expect(world.client.identity?.id).toBe(0x1234n);
    }
  });

  it('has just begun to serve when it takes a new session: ours is offered once more before it is given up', async () => {
    const world = await outOfTouch();
    const { identity } = world.client;
    const probed = await world.nextLink();
    probed.refuse();
    await promisesSettled();
    const probe = world.link;
    probe.grant(10_000, 0x7777n);
    expect(probe.offer?.sessionId).toBe(0n);
    expect(probe.operations()).toEqual(['closeSession']);
    expect(world.client.state).toBe('lost');
    probe.answer();
    await promisesSettled();
    expect(probe.destroyed).toBe(true);
    const again = world.link;
    again.grant(10_000);
    expect(again.offer?.sessionId).toBe(0x1234n);
    expect(world.client.state).toBe('reconnected');
    expect(world.client.identity).toBe(identity);
  });

  it('costs nothing by a probe that is lost half-way', async () => {
    const world = await outOfTouch();
    (await world.nextLink()).refuse();
    await promisesSettled();
    const probe = world.link;
    probe.grant(10_000, 0x7777n);
    probe.hangUp();
    await promisesSettled();
    const again = world.link;
    expect(again).not.toBe(probe);
    again.grant(10_000);
    expect(world.client.identity?.id).toBe(0x1234n);
    expect(world.client.state).toBe('reconnected');
  });

  it('loses the time of one attempt by a probe that is never answered, not the session', async () => {
    const world = await outOfTouch();
    (await world.nextLink()).refuse();
    await promisesSettled();
    const probe = world.link;
    probe.grant(10_000, 0x7777n);
    const again = await world.nextLink();
    expect(probe.destroyed).toBe(true);
    again.grant(10_000);
    expect(world.client.identity?.id).toBe(0x1234n);
  });
});

describe('Where servers refuse only us (their data was wiped or restored),', () => {
  it('a new session is opened, and the old one closed by id and password, with transaction 0', async () => {
    const world = await outOfTouch();
    const before = world.dialer.links.length;
    world.dialer.onDial = (link) => {
      wiped(link);
      if (link.operations().includes('closeSession')) link.answer();
    };
    await world.clock.advance(3_000);
    expect(world.client.state).toBe('reconnected');
    expect(world.client.identity?.id).toBe(0x5555n);
    const offers = world.dialer.links.slice(before).map(({ offer }) => offer);
    const closing = offers.find((offer) => offer?.sessionId === 0x1234n && offer.lastZxid === 0n);
    expect(closing?.password).toEqual(PASSWORD);
    expect(world.dialer.open).toHaveLength(1);
  });

  it('a close of the old session that is cut off is tried at the next server', async () => {
    const world = await outOfTouch({ servers: THREE_SERVERS });
    const closings: ScriptedLink[] = [];
    world.dialer.onDial = (link) => {
      link.open();
      const { sessionId, lastZxid } = link.offer!;
      if (sessionId === 0n) link.grant(10_000, 0x5555n);
      else if (lastZxid === 0n) {
        closings.push(link);
        link.grant(1_000);
      } else link.hangUp(new Error('client has seen a newer state'));
      // The probe is answered; the closing of the old session is not.
      if (sessionId === 0n && link.operations().includes('closeSession')) link.answer();
    };
    for (let step = 0; step < 300 && closings.length === 0; step += 1) await world.clock.advance(10);
    expect(closings).toHaveLength(1);
    closings[0]!.hangUp();
    await promisesSettled();
    expect(closings).toHaveLength(2);
    expect(closings[1]!.destroyed).toBe(false);
    expect(closings[1]!.operations()).toEqual(['closeSession']);
    closings[1]!.answer();
    await promisesSettled();
    expect(closings[1]!.destroyed).toBe(true);
    expect(closings).toHaveLength(2);
  });

  it('closing the client meanwhile leaves no timer and no link', async () => {
    const world = await outOfTouch({ servers: THREE_SERVERS });
    world.dialer.onDial = (link) => {
      link.open();
      if (link.offer?.sessionId === 0n) link.grant(10_000, 0x5555n);
      else if (link.offer?.lastZxid !== 0n) link.hangUp();
      if (link.operations().includes('closeSession')) link.answer();
    };
    await world.clock.advance(3_000);
    expect(world.client.identity?.id).toBe(0x5555n);
    const closed = world.client.close(100);
    await world.clock.advance(100);
    await closed;
    expect(world.clock.timers).toBe(0);
    expect(world.dialer.open).toEqual([]);
  });
});

describe('A session that closes by itself', () => {
  it.each<[string, (world: SessionWorld) => Promise<void>]>([
    [
      'as it is granted less than two ticks when it is taken up again',
      async (world) => (await world.nextLink()).grant(3_999),
    ],
    [
      'as its credentials are refused when it is taken up again',
      async (world) => {
        const link = await world.nextLink();
        link.grant(10_000);
        link.reply(AUTH_XID, -115);
      },
    ],
  ])('%s is lost before its end is sent', async (_, takeUp) => {
    const world = SessionWorld.connected({ auth: [{ scheme: 'digest', credential: Buffer.from('a:b') }] });
    // The credentials, and what goes behind them.
    world.link.answer();
    world.link.answer(stat());
    await promisesSettled();
    expect(world.client.state).toBe('connected');
    const sentWhenLost: string[][] = [];
    world.client.state$.subscribe((state) => {
      if (state !== 'lost') return;
      expect(world.client.identity).toBeUndefined();
      sentWhenLost.push(world.link.operations());
    });
    world.link.hangUp();
    await takeUp(world);
    expect(sentWhenLost).toHaveLength(1);
    expect(sentWhenLost[0]).not.toContain('closeSession');
    expect(world.link.operations()).toContain('closeSession');
  });
});
