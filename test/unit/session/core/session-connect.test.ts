import { describe, expect, it } from '@jest/globals';
import { AUTH_XID } from '../../../../lib/session/core/link.js';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { get, sync } from '../../../../lib/session/requests.js';
import { SessionWorld, stat, THREE_SERVERS } from '../../support/session-world.js';
import { promisesSettled } from '../../support/manual-clock.js';
import { replyTo } from '../../../support/sessions/reply-to.js';

describe('A client that gets its first session', () => {
  it('is connected when a server grants one, with the granted time-out, and replays its state', () => {
    const world = new SessionWorld();
    expect(world.client.identity).toBeUndefined();
    expect(world.client.certainUntil()).toBe(-Infinity);
    world.link.grant(8_000, 0xabcn);
    expect(world.states).toEqual(['connecting', 'connected']);
    expect(world.client.identity).toEqual({ id: 0xabcn, timeoutMs: 8_000 });
    const replayed: string[] = [];
    world.client.state$.subscribe((state) => replayed.push(state));
    expect(replayed).toEqual(['connected']);
  });

  it('is certain from the handshake that created the session, at its own send time', async () => {
    const world = new SessionWorld();
    await world.clock.advance(300);
    world.link.open();
    await world.clock.advance(500);
    world.link.grant(10_000);
    expect(world.client.certainUntil()).toBe(1_300 + 10_000 - 200);
    expect(world.client.certainSince()).toBe(1_300);
  });

  it('asks for a new session with transaction 0, so that any server may grant it', () => {
    const world = new SessionWorld({ sessionTimeoutMs: 7_000 });
    world.link.open();
    expect(world.link.offer).toMatchObject({ sessionId: 0n, lastZxid: 0n, timeoutMs: 7_000 });
  });

  it('tries every server once a round when they refuse, and again after a pause', async () => {
    const world = new SessionWorld({ servers: THREE_SERVERS });
    world.dialer.onDial = (link) => link.refuse();
    world.link.refuse();
    await promisesSettled();
    expect(world.dialer.links.map(({ server }) => server.host).sort()).toEqual(['zk1', 'zk2', 'zk3']);
    await world.clock.advance(50);
    expect(world.dialer.links).toHaveLength(6);
    expect(new Set(world.dialer.links.slice(3).map(({ server }) => server.host)).size).toBe(3);
    expect(world.states).toEqual(['connecting']);
    expect(world.client.describeFailures()).toMatch(/zk1:2181: it refused the handshake; |zk2/);
  });

  it('gives a server that is silent its time and goes on to the next: unreachable or mute, a good one is found', async () => {
    const world = new SessionWorld({ servers: THREE_SERVERS, sessionTimeoutMs: 9_000 });
    await world.clock.advance(1_000);
    expect(world.dialer.links).toHaveLength(2);
    world.link.open();
    await world.clock.advance(1_000);
    expect(world.dialer.links).toHaveLength(3);
    expect(world.dialer.open).toHaveLength(1);
    world.link.grant(9_000);
    expect(world.client.state).toBe('connected');
  });

  it('authenticates with every credential, and is up when they have been answered', async () => {
    const credential = Uint8Array.from([1, 2]);
    const world = new SessionWorld({
      auth: [
        { scheme: 'digest', credential },
        { scheme: 'x', credential },
      ],
    });
    world.link.grant(8_000);
    expect(world.link.operations()).toEqual(['auth', 'auth', 'exists']);
    world.link.answer();
    world.link.answer();
    await promisesSettled();
    expect(world.states).toEqual(['connecting']);
    world.link.answer(stat());
    await promisesSettled();
    expect(world.states).toEqual(['connecting', 'connected']);
    void replyTo(world.client, sync('/')).catch(() => undefined);
    expect(world.link.operations()).toEqual(['auth', 'auth', 'exists', 'sync']);
  });

  it('does not hammer a server that answers without granting a session', async () => {
    const world = new SessionWorld();
    world.dialer.onDial = (link) => link.expire();
    world.link.expire();
    await world.clock.advance(1_000);
    expect(world.dialer.links.length).toBeLessThan(20);
    expect(world.states).toEqual(['connecting']);
  });
});

describe('A session whose servers may make locks impossible', () => {
  it('is closed for good by a granted time-out under two ticks, and the error names both options', async () => {
    const world = new SessionWorld({ serverTickMs: 2_000 });
    world.link.grant(3_999);
    expect(world.link.sent.map(({ request }) => request.op)).toEqual(['closeSession']);
    world.link.answer();
    await promisesSettled();
    expect(world.states).toEqual(['connecting', 'closed']);
    expect(world.client.failure).toBeInstanceOf(LockConfigurationError);
    expect(world.client.failure?.message).toMatch(/3999 ms.*2000 ms/);
    expect(world.clock.timers).toBe(0);
    expect(world.dialer.open).toEqual([]);
    await world.client.close();
  });

  it.each([
    [300, 150],
    [200, 100],
    [200, 50],
    [100, 10],
  ])(
    'is closed for good by %d ms with ticks of %d ms, in which no lock is ever certain, and the error says what to set',
    (grantedMs, tickMs) => {
      const world = new SessionWorld({ sessionTimeoutMs: grantedMs, serverTickMs: tickMs });
      world.link.grant(grantedMs);
      expect(world.link.operations()).toEqual(['closeSession']);
      expect(world.client.failure).toBeInstanceOf(LockConfigurationError);
      const text = world.client.failure?.message;
      expect(text).toMatch(new RegExp(`^sessionTimeoutMs: .*${grantedMs} ms.*serverTickMs is ${tickMs} ms`));
      const leastMs = Number(/(\d+) ms at the least/.exec(text ?? '')?.[1]);
      const mended = new SessionWorld({ sessionTimeoutMs: leastMs, serverTickMs: tickMs });
      mended.link.grant(leastMs);
      expect(mended.client.state).toBe('connected');
    },
  );

  it('goes on with two ticks, which are enough', () => {
    const world = new SessionWorld({ serverTickMs: 2_000 });
    world.link.grant(4_000);
    expect(world.client.state).toBe('connected');
  });

  it('goes on after an answer to credentials that were never sent, or accepted before, which costs that connection alone', async () => {
    const credential = new TextEncoder().encode('user:secret');
    for (const auth of [[], [{ scheme: 'digest', credential }]]) {
      const world = new SessionWorld({ auth });
      world.link.grant(8_000);
      for (const answer of auth.length > 0 ? [undefined, stat()] : []) world.link.answer(answer);
      await promisesSettled();
      expect(world.client.state).toBe('connected');
      world.link.reply(AUTH_XID, -115);
      expect(world.states).toEqual(['connecting', 'connected', 'suspended']);
      expect(world.client.describeFailures()).toContain('it answered credentials that were not sent');
      (await world.nextLink()).grant(8_000);
      for (const answer of auth.length > 0 ? [undefined, stat()] : []) world.link.answer(answer);
      await promisesSettled();
      expect(world.client.state).toBe('reconnected');
      expect(world.client.failure).toBeUndefined();
    }
  });

  it('is closed for good by refused credentials: every call settles, and the reason is kept without the credentials', async () => {
    const credential = new TextEncoder().encode('user:secret');
    const world = new SessionWorld({ auth: [{ scheme: 'digest', credential }] });
    world.link.grant(8_000);
    await expect(replyTo(world.client, get('/a'))).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
    world.link.reply(AUTH_XID, -115);
    await expect(replyTo(world.client, get('/a'))).rejects.toMatchObject({ code: 'CLOSED' });
    expect(world.client.isClosing).toBe(true);
    await world.clock.advance(1_000);
    expect(world.states).toEqual(['connecting', 'closed']);
    expect(world.client.failure).toMatchObject({ code: 'LOCK_CONFIGURATION', cause: { code: 'AUTH_FAILED' } });
    expect(String(world.client.failure) + String(world.client.failure?.cause)).not.toContain('secret');
    expect(world.clock.timers).toBe(0);
    await expect(replyTo(world.client, get('/a'))).rejects.toMatchObject({ code: 'CLOSED' });
  });
});
