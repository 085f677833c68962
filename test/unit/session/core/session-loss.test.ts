import { describe, expect, it } from '@jest/globals';
import { UnansweredQuestion } from '../../../../lib/session/core/link.js';
import { create, get, remove, set, sync } from '../../../../lib/session/requests.js';
import { SessionWorld, stat, THREE_SERVERS } from '../../support/session-world.js';
import { replyTo } from '../../../support/sessions/reply-to.js';

describe('When the link goes down,', () => {
  it('every outstanding call settles with the loss, calls made later with "not connected", and nothing is sent twice', async () => {
    const world = SessionWorld.connected();
    const { client } = world;
    const single = replyTo(client, create('/a', 'ephemeral'));
    const batch = client.batch([remove('/b'), get('/c')]);
    world.link.answer(stat() && { path: '/a', stat: stat() });
    await expect(single).resolves.toMatchObject({ path: '/a' });
    world.link.hangUp(new Error('reset'));
    expect(client.state).toBe('suspended');
    expect(await batch).toMatchObject([{ code: 'CONNECTION_LOSS' }, { code: 'CONNECTION_LOSS' }]);
    await expect(replyTo(client, get('/d'))).rejects.toMatchObject({ code: 'NOT_CONNECTED', outcomeUnknown: false });
    expect(await client.batch([sync('/')])).toMatchObject([{ code: 'NOT_CONNECTED' }]);
    const link = await world.nextLink();
    link.grant(10_000);
    expect(link.sent).toEqual([]);
  });

  it('the old session is offered first, with its password and the newest transaction seen', async () => {
    const world = SessionWorld.connected({ servers: THREE_SERVERS });
    world.link.lastZxid = 77n;
    world.link.hangUp();
    const link = await world.nextLink();
    link.open();
    expect(link.offer).toMatchObject({ sessionId: 0x1234n, lastZxid: 77n, timeoutMs: 10_000 });
    expect([...link.offer!.password.slice(0, 3)]).toEqual([1, 2, 3]);
  });

  it('the newest transaction is not forgotten over a connection that saw less', async () => {
    const world = SessionWorld.connected();
    world.link.lastZxid = 77n;
    world.link.hangUp();
    const second = await world.nextLink();
    second.grant(10_000);
    second.lastZxid = 5n;
    second.hangUp();
    const third = await world.nextLink();
    third.open();
    expect(third.offer?.lastZxid).toBe(77n);
  });

  it('the same session back is "reconnected", with the same identity object', async () => {
    const world = SessionWorld.connected();
    const { identity } = world.client;
    world.link.hangUp();
    expect(world.client.identity).toBe(identity);
    (await world.nextLink()).grant(10_000);
    expect(world.states).toEqual(['connecting', 'connected', 'suspended', 'reconnected']);
    expect(world.client.identity).toBe(identity);
  });

  it('two ticks are certain while the session is offered to a server, and whoever counts on more is told at once', async () => {
    const world = SessionWorld.connected();
    await world.clock.advance(2_000);
    let told = 0;
    world.client.certaintyLowered$.subscribe(() => (told += 1));
    world.link.hangUp();
    const link = await world.nextLink();
    expect(told).toBe(0);
    link.open();
    expect(told).toBe(1);
    expect(world.client.certainUntil()).toBe(world.clock.now() + 4_000 - 200);
  });

  it('a server is asked whether it serves before it is offered a session that holds something and is certain for longer', async () => {
    const world = SessionWorld.connected();
    expect(world.link.asksFirst).toBe(false);
    world.link.hangUp();
    (await world.nextLink()).grant(10_000);
    expect(world.link.asksFirst).toBe(false);

    world.client.keepCertain();
    world.link.hangUp();
    const asked = await world.nextLink();
    expect(asked.asksFirst).toBe(true);
    // It says that it does not serve: nothing was offered, so all that was certain still is.
    const before = world.client.certainUntil();
    asked.hangUp();
    expect(world.client.certainUntil()).toBe(before);

    // With two ticks left an offer costs nothing.
    world.dialer.onDial = (link) => link.hangUp();
    while (world.client.certainUntil() - world.clock.now() > 4_000) await world.clock.advance(50);
    world.dialer.onDial = () => undefined;
    expect((await world.nextLink()).asksFirst).toBe(false);
  });

  it('the offer to a server that serves has a time of its own, whatever the question took of it', async () => {
    const world = SessionWorld.connected({ sessionTimeoutMs: 30_000 }, 30_000);
    world.client.keepCertain();
    world.link.hangUp();
    const link = await world.nextLink();
    // A third of what is certain, each time.
    await world.clock.advance(9_000);
    link.serves();
    await world.clock.advance(9_000);
    link.open();
    expect(link.destroyed).toBe(false);
    await world.clock.advance(1_500);
    expect(link.destroyed).toBe(true);
  });

  it('a server that answers the question by hanging up, and so for a tick, is offered the session', async () => {
    const world = SessionWorld.connected({ sessionTimeoutMs: 30_000 }, 30_000);
    world.client.keepCertain();
    world.dialer.onDial = (link) => {
      if (link.asksFirst) link.hangUp(new UnansweredQuestion('it said nothing'));
      else link.grant(30_000);
    };
    const before = world.clock.now();
    world.link.hangUp();
    while (world.client.state !== 'reconnected') await world.clock.advance(50);
    expect(world.clock.now() - before).toBeGreaterThan(2_000);
    expect(world.clock.now() - before).toBeLessThan(5_000);
  });

  it('a re-attach is no proof of life until a write behind it was committed', async () => {
    const world = SessionWorld.connected();
    await world.clock.advance(2_000);
    const before = world.client.certainUntil();
    world.link.hangUp();
    const link = await world.nextLink();
    link.open();
    const offeredAt = world.clock.now();
    link.grant(10_000);
    expect(world.client.certainUntil()).toBe(before);
    const written = replyTo(world.client, set('/a', new Uint8Array(0)));
    world.clock.pass(5);
    world.link.answer(stat());
    await written;
    expect(world.client.certainUntil()).toBe(offeredAt + 10_000 - 200);
  });

  it('a holder has that write sent at once', async () => {
    const world = SessionWorld.connected();
    world.client.keepCertain();
    await world.clock.advance(1_000);
    world.link.hangUp();
    (await world.nextLink()).grant(10_000);
    expect(world.link.operations().at(-1)).toBe('create');
  });

  it('a re-attach may bring a smaller S, of which whoever counts on more is told at once, also before it is announced', async () => {
    const world = SessionWorld.connected({ auth: [{ scheme: 'digest', credential: Buffer.from('a:b') }] });
    await world.clock.advance(500);
    world.link.hangUp();
    const link = await world.nextLink();
    link.open();
    const sentAt = world.clock.now();
    const seen: number[] = [];
    world.client.certaintyLowered$.subscribe(() => seen.push(world.client.certainUntil()));
    link.grant(4_000);
    expect(seen).toEqual([sentAt + 4_000 - 80]);
    expect(world.states).toEqual(['connecting']);
    expect(world.client.identity?.timeoutMs).toBe(4_000);
  });

  it('several offers count from the earliest that was not made up for', async () => {
    const world = SessionWorld.connected();
    await world.clock.advance(2_000);
    world.link.hangUp();
    const second = await world.nextLink();
    second.open();
    const offeredAt = world.clock.now();
    await world.clock.advance(300);
    second.hangUp();
    (await world.nextLink()).grant(10_000);
    expect(world.client.certainUntil()).toBe(offeredAt + 4_000 - 200);
  });

  it('a server that answers with another session is not believed: neither its session nor its S is ours', async () => {
    const world = SessionWorld.connected();
    world.link.hangUp();
    (await world.nextLink()).grantAnother(20_000, 0x9999n);
    const offeredAt = world.clock.now();
    expect(world.client.state).toBe('suspended');
    expect(world.client.identity).toEqual({ id: 0x1234n, timeoutMs: 10_000 });
    expect(world.client.certainUntil()).toBe(offeredAt + 4_000 - 200);
    const link = await world.nextLink();
    link.open();
    expect(link.offer?.sessionId).toBe(0x1234n);
  });

  it('the session is suspended: silence for two thirds of S does it, and a byte in time prevents it', async () => {
    const world = SessionWorld.connected({}, 6_000);
    await world.clock.advance(3_900);
    world.link.reply(-2, undefined);
    await world.clock.advance(3_900);
    expect(world.client.state).toBe('connected');
    await world.clock.advance(100);
    expect(world.client.state).toBe('suspended');
  });
});

describe('When the link stays down,', () => {
  it('the session is "lost" S after the last byte, not before, and comes back with the same identity if it survived', async () => {
    const world = SessionWorld.connected();
    const { identity } = world.client;
    await world.clock.advance(1_500);
    world.link.reply(-2, undefined);
    await world.clock.advance(1_500);
    world.dialer.onDial = (link) => link.hangUp();
    world.link.hangUp();
    await world.clock.advance(8_499);
    expect(world.client.state).toBe('suspended');
    await world.clock.advance(1);
    expect(world.client.state).toBe('lost');
    expect(world.client.identity).toBe(identity);
    world.dialer.onDial = () => undefined;
    (await world.nextLink()).grant(10_000);
    expect(world.states).toEqual(['connecting', 'connected', 'suspended', 'lost', 'reconnected']);
    expect(world.client.identity).toBe(identity);
  });

  it('a link in time takes the threat away', async () => {
    const world = SessionWorld.connected();
    world.link.hangUp();
    (await world.nextLink()).grant(10_000);
    for (let step = 0; step < 10; step += 1) {
      await world.clock.advance(2_000);
      world.link.reply(-2, undefined);
    }
    expect(world.states).toEqual(['connecting', 'connected', 'suspended', 'reconnected']);
  });
});

describe('A holder whose servers refused it for a while (they were restarting) and then serve again', () => {
  it('is back at once although one of them is silent: refusals made nobody more patient with that one', async () => {
    const world = SessionWorld.connected({ servers: THREE_SERVERS });
    world.client.keepCertain();
    world.dialer.onDial = (link) => link.refuse();
    world.link.hangUp();
    await world.clock.advance(1_000);
    const silent = world.dialer.links[0]!.server;
    world.dialer.onDial = (link) => (link.server === silent ? link.open() : link.grant(10_000));
    await world.clock.advance(1_000 + 10_000 / 9);
    expect(world.client.state).toBe('reconnected');
    expect(world.client.certainUntil()).toBeGreaterThan(world.clock.now());
  });

  it('spends at most a third of the certainty it has left on one that was silent before', async () => {
    const world = SessionWorld.connected({ servers: THREE_SERVERS });
    const letGo = world.client.keepCertain();
    const attemptsMs = new Map<string, number[]>();
    world.dialer.onDial = (link) => {
      const destroy = link.destroy.bind(link);
      const startedAt = world.clock.now();
      const certainMs = world.client.certainUntil() - startedAt;
      link.open();
      link.destroy = () => {
        const tookMs = world.clock.now() - startedAt;
        attemptsMs.set(link.server.host, [...(attemptsMs.get(link.server.host) ?? []), tookMs]);
        if (certainMs > 750) expect(tookMs).toBeLessThanOrEqual(certainMs / 3 + 0.001);
        destroy();
      };
    };
    world.link.hangUp();
    await world.clock.advance(90_000);
    const [first] = [...attemptsMs.values()];
    // Nothing is at stake any more: whoever is slow gets the time that it needs.
    expect(first!.at(-1)).toBeGreaterThan(4_000);
    letGo();
  });
});

describe('When a server says that the session has ended,', () => {
  it('the session is "lost", watches are told, and a new session with another identity follows at once', async () => {
    const world = SessionWorld.connected();
    const events: string[] = [];
    const { identity } = world.client;
    void replyTo(world.client, get('/a', { onWatchEvent: ({ type, path }) => events.push(`${type} ${path}`) }));
    world.link.answer({ data: new Uint8Array(0), stat: stat() });
    world.link.hangUp();
    const link = await world.nextLink();
    link.expire();
    expect(world.client.state).toBe('lost');
    expect(events).toEqual(['lost /a']);
    expect(world.client.identity).toBeUndefined();
    expect(world.client.certainUntil()).toBe(-Infinity);
    expect(world.client.certainSince()).toBe(Infinity);
    const fresh = world.link;
    expect(fresh).not.toBe(link);
    fresh.grant(10_000, 0x9999n);
    expect(fresh.offer).toMatchObject({ sessionId: 0n, lastZxid: 0n, timeoutMs: 10_000 });
    expect(world.states).toEqual(['connecting', 'connected', 'suspended', 'lost', 'reconnected']);
    expect(world.client.identity).not.toBe(identity);
    expect(world.client.identity?.id).toBe(0x9999n);
    expect(fresh.operations()).toEqual([]);
  });

  it('"lost" is told once, however it was found out', async () => {
    const world = SessionWorld.connected();
    await world.loseTouch();
    const link = await world.nextLink();
    link.expire();
    expect(world.states).toEqual(['connecting', 'connected', 'suspended', 'lost']);
  });

  it('whoever waits for a proof of life is told at the cut', async () => {
    const world = SessionWorld.connected();
    world.clock.block(9_900);
    world.link.reply(-2, undefined);
    const proof = world.client.proveLife();
    const failed = expect(proof).rejects.toMatchObject({ code: 'CONNECTION_LOSS' });
    world.link.hangUp();
    await failed;
    await expect(world.client.proveLife()).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
  });
});

describe('When a server is too busy (THROTTLED),', () => {
  it('its answer is told after a pause, one after the other, and does not hold up those behind it', async () => {
    const world = SessionWorld.connected();
    const told: string[] = [];
    const note = (name: string): void => void told.push(`${name} ${world.clock.now() - 1_000}`);
    for (const name of ['a', 'b']) replyTo(world.client, get(`/${name}`)).catch(() => note(name));
    void replyTo(world.client, sync('/')).then(() => note('c'));
    world.link.answer(-127);
    world.link.answer(-127);
    world.link.answer();
    await world.clock.advance(1_000);
    expect(told).toEqual(['c 0', 'a 200', 'b 202']);
  });

  it('a call waits no longer for it than twice the pause, however many it has put off', async () => {
    const world = SessionWorld.connected();
    const told: number[] = [];
    for (let count = 0; count < 1_000; count += 1) {
      replyTo(world.client, get('/a')).catch(() => told.push(world.clock.now() - 1_000));
      world.link.answer(-127);
    }
    await world.clock.advance(400);
    expect([told.length, told[0], told.at(-1)]).toEqual([1_000, 200, 400]);
    expect(new Set(told).size).toBe(101);
    expect(world.clock.timers).toBe(1);
  });

  it('a call is told at once when the link goes away, or the client is closed: nothing stays behind', async () => {
    for (const end of ['hangUp', 'close'] as const) {
      const world = SessionWorld.connected();
      const failed = expect(replyTo(world.client, get('/a'))).rejects.toMatchObject({ code: 'THROTTLED' });
      world.link.answer(-127);
      if (end === 'hangUp') world.link.hangUp();
      const closed = world.client.close(0);
      await world.clock.advance(0);
      await failed;
      await closed;
      expect(world.clock.timers).toBe(0);
    }
  });
});
