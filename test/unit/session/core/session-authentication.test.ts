import { describe, expect, it } from '@jest/globals';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { AuthenticationError, type Authenticator } from '../../../../lib/session/core/authentication.js';
import { PING_XID, type Server } from '../../../../lib/session/core/link.js';
import type { SessionError } from '../../../../lib/session/errors.js';
import { exists, get } from '../../../../lib/session/requests.js';
import { promisesSettled } from '../../support/manual-clock.js';
import type { ScriptedLink } from '../../support/scripted-dialer.js';
import { SessionWorld, stat, THREE_SERVERS } from '../../support/session-world.js';

/** Answers a challenge `x` by `x!`; after `last` the server only has to accept. */
class ScriptedAuthenticator implements Authenticator {
  readonly begun: string[] = [];
  abandoned = 0;
  /** What to say instead of a first token. */
  trouble: ((server: Server) => Error | 'silence' | undefined) | undefined;

  begin(server: Server, signal: AbortSignal): ReturnType<Authenticator['begin']> {
    this.begun.push(server.host);
    signal.addEventListener('abort', () => (this.abandoned += 1));
    const trouble = this.trouble?.(server);
    if (trouble === 'silence') return new Promise(() => undefined);
    if (trouble !== undefined) return Promise.reject(trouble);
    return Promise.resolve({
      firstToken: Buffer.from(`ticket for ${server.host}`),
      respond: (challenge) => {
        const text = Buffer.from(challenge).toString();
        return Promise.resolve({ token: Buffer.from(`${text}!`), isLast: text === 'last' });
      },
      explain: (refusal) => `${refusal} by ${server.host}`,
    });
  }
}

function world(overrides: object = {}): { world: SessionWorld; authenticator: ScriptedAuthenticator } {
  const authenticator = new ScriptedAuthenticator();
  return { world: new SessionWorld({ authenticator, ...overrides }), authenticator };
}

/** The server is content with three tokens. */
async function letIn(link: ScriptedLink): Promise<void> {
  link.open();
  await promisesSettled();
  link.grant(10_000);
  for (const challenge of ['first', 'last', '']) {
    link.answerToken(challenge);
    await promisesSettled();
  }
}

async function connected(): Promise<ReturnType<typeof world>> {
  const made = world();
  await letIn(made.world.link);
  expect(made.world.client.state).toBe('connected');
  return made;
}

describe('A client that authenticates', () => {
  it('has its first token before it offers the session, and sends nothing but tokens until the server is content', async () => {
    const { world: one, authenticator } = world();
    one.link.open();
    expect(one.link.offer).toBeUndefined();
    await promisesSettled();
    expect(authenticator.begun).toEqual(['zk1']);
    expect(one.link.offer).toMatchObject({ sessionId: 0n });

    one.link.grant(10_000);
    expect(one.link.tokens).toEqual(['ticket for zk1']);
    one.link.answerToken('first');
    await promisesSettled();
    one.link.answerToken('last');
    await promisesSettled();
    expect(one.link.tokens).toEqual(['ticket for zk1', 'first!', 'last!']);
    expect([one.client.state, one.link.operations()]).toEqual(['connecting', []]);

    one.link.answerToken('');
    expect(one.client.state).toBe('connected');
    expect(one.link.operations()).toEqual([]);
  });

  it('does so again after a reconnect, before the watches are set and before anything else', async () => {
    const { world: one } = await connected();
    void one.client.batch([get('/a', { onWatchEvent: () => undefined })]);
    one.link.answer({ data: new Uint8Array(0), stat: stat() });
    await promisesSettled();
    const { identity } = one.client;
    one.link.hangUp();
    const again = await one.nextLink();
    await letIn(again);

    expect(again.offer?.sessionId).toBe(0x1234n);
    expect(again.tokens).toHaveLength(3);
    expect(again.operations()).toEqual(['setWatches']);
    expect(one.client.state).toBe('reconnected');
    expect(one.client.identity).toBe(identity);
  });

  it('sends no ping before it is let in, however long that takes', async () => {
    const { world: one } = world();
    one.link.open();
    await promisesSettled();
    one.link.grant(10_000);
    await one.clock.advance(3_000);
    expect(one.link.operations()).toEqual([]);
    expect(one.link.destroyed).toBe(false);
  });

  it.each<['client' | 'server', string]>([
    ['client', 'no ticket'],
    ['server', 'no such principal'],
  ])('fails its start at once if it cannot, as its %s is to blame: the error says why', async (blames, text) => {
    const { world: one, authenticator } = world();
    authenticator.trouble = () => new AuthenticationError(blames, text);
    one.link.open();
    await promisesSettled();
    expect(one.client.state).toBe('closed');
    expect(one.client.failure).toBeInstanceOf(LockConfigurationError);
    expect(one.client.failure?.details).toBe(`auth: zk1:2181: ${text}`);
    expect([one.clock.timers, one.dialer.open.length]).toEqual([0, 0]);
  });

  it('tries the other servers when one has refused it', async () => {
    const { world: one } = world({ servers: THREE_SERVERS });
    const first = one.link;
    first.open();
    await promisesSettled();
    first.grant(10_000);
    first.answerToken(-115);
    await promisesSettled();
    expect(first.destroyed).toBe(true);
    expect(one.link).not.toBe(first);
    await letIn(one.link);
    expect(one.client.state).toBe('connected');
    // The session that the first server granted is not left behind.
    expect(one.link.offer?.sessionId).toBe(0x1234n);
    expect(one.client.certainUntil()).toBeGreaterThan(one.clock.now());
  });

  it.each<[string, string | number, RegExp]>([
    ['refuses', -115, /zk1:2181: it refuses the authentication \(error -115\): refused by zk1/],
    ['insists on others', -124, /error -124/],
    ['knows nothing of it', '', /it takes no part in the authentication: ignored by zk1/],
  ])('fails its start if its only server %s', async (_, answer, text) => {
    const { world: one } = world();
    one.link.open();
    await promisesSettled();
    one.link.grant(10_000);
    one.link.answerToken(answer);
    await promisesSettled();
    expect(one.client.state).toBe('closed');
    expect(one.client.failure?.details).toMatch(text);
    expect([one.clock.timers, one.dialer.open.length]).toEqual([0, 0]);
  });

  it('goes on where the moment is to blame, with a pause after each round', async () => {
    const { world: one, authenticator } = world({ servers: THREE_SERVERS });
    authenticator.trouble = () => new AuthenticationError('moment', 'the KDC is away');
    one.dialer.onDial = (link) => link.open();
    one.link.open();
    await one.clock.advance(30_000);
    expect(one.client.state).not.toBe('closed');
    expect(authenticator.begun.length).toBeGreaterThan(10);
    // Three servers a second and a bit.
    expect(authenticator.begun.length).toBeLessThan(200);
    authenticator.trouble = undefined;
    one.dialer.onDial = () => undefined;
    await letIn(await one.nextLink());
    expect(one.client.state).toBe('connected');
  });

  it('gives a server up that answers twice, and has nothing more worked on', async () => {
    const { world: one } = world({ servers: THREE_SERVERS });
    const first = one.link;
    first.open();
    await promisesSettled();
    first.grant(10_000);
    first.answerToken('first');
    first.answerToken('last');
    await promisesSettled();
    expect([first.destroyed, first.tokens]).toEqual([true, ['ticket for zk1']]);
    expect(one.client.describeFailures()).toContain('it answered before the next token was sent');
    await letIn(one.link);
    expect(one.client.state).toBe('connected');
  });

  it('waits no longer for its first token than for a server, and offers nothing meanwhile', async () => {
    const { world: one, authenticator } = world();
    authenticator.trouble = () => 'silence';
    const first = one.link;
    first.open();
    await one.nextLink();
    expect([first.destroyed, first.offer, authenticator.abandoned]).toEqual([true, undefined, 1]);
    expect(one.client.describeFailures()).toMatch(/no proof of who this client is .* within \d+ ms/);
  });

  it('waits no longer for the end of the exchange than for a server', async () => {
    const { world: one } = world({ servers: THREE_SERVERS });
    const first = one.link;
    first.open();
    await promisesSettled();
    first.grant(10_000);
    await one.nextLink();
    expect(first.destroyed).toBe(true);
    expect(one.client.describeFailures()).toContain('connected, no end of the authentication within');
  });

  it('leaves no timer and no link where it closes meanwhile', async () => {
    const { world: one, authenticator } = world();
    one.link.open();
    await promisesSettled();
    one.link.grant(10_000);
    const closed = one.client.close(100);
    await one.clock.advance(100);
    await closed;
    expect([one.clock.timers, one.dialer.open.length, authenticator.abandoned]).toEqual([0, 0, 1]);
  });
});

describe('Where servers refuse only us (their data was wiped or restored),', () => {
  it('the session on the side and the end of the old one are asked for behind an authentication, too', async () => {
    const { world: one } = await connected();
    one.link.lastZxid = 77n;
    await one.loseTouch();
    const before = one.dialer.links.length;
    one.dialer.onDial = (link) => {
      link.open();
      void promisesSettled().then(async () => {
        if (link.offer?.sessionId === 0x1234n && link.offer.lastZxid !== 0n)
          return link.hangUp(new Error('newer state'));
        link.grant(10_000, 0x5555n);
        for (const challenge of ['first', 'last', '']) {
          expect(link.operations()).toEqual([]);
          link.answerToken(challenge);
          await promisesSettled();
        }
        if (link.operations().includes('closeSession')) link.answer();
      });
    };
    for (let step = 0; step < 100; step += 1) await one.clock.advance(50);
    expect(one.client.state).toBe('reconnected');
    expect(one.client.identity?.id).toBe(0x5555n);
    const closed = one.dialer.links.slice(before).filter((link) => link.operations().includes('closeSession'));
    expect(closed.map(({ offer }) => offer?.sessionId)).toEqual([0n, 0x1234n]);
    expect(closed.map(({ tokens }) => tokens.length)).toEqual([3, 3]);
    expect(one.dialer.open).toHaveLength(1);
  });
});

describe('A client that proves nothing, at servers that insist on it,', () => {
  it.each<[string, (world: SessionWorld) => void]>([
    ['a request', (one) => one.link.answer(-124)],
    ['a ping', (one) => one.link.reply(PING_XID, -124)],
  ])('gives up for good at the answer to %s, and every call settles', async (_, answer) => {
    const one = SessionWorld.connected();
    const asked = one.client.batch([exists('/a'), exists('/b')]);
    await one.clock.advance(2_000);
    answer(one);
    await promisesSettled();
    expect(one.client.state).toBe('closed');
    expect(one.client.failure).toBeInstanceOf(LockConfigurationError);
    expect(one.client.failure?.details).toMatch(/^auth: the servers let in only who authenticates/);
    expect((await asked).map((outcome) => (outcome as unknown as SessionError).code)).toEqual(['CLOSED', 'CLOSED']);
    expect([one.clock.timers, one.dialer.open.length]).toEqual([0, 0]);
  });
});

describe('A client that was up, and cannot authenticate any more,', () => {
  it('goes on trying in a measured way, and keeps its session when that succeeds in time', async () => {
    const { world: one, authenticator } = await connected();
    const { identity } = one.client;
    // Something is held, for whose sake other troubles are tried again sooner and sooner.
    one.client.keepCertain();
    authenticator.begun.length = 0;
    authenticator.trouble = () => new AuthenticationError('client', 'the ticket ran out');
    one.dialer.onDial = (link) => link.open();
    one.link.hangUp();
    await one.clock.advance(8_000);
    expect(one.client.state).toBe('suspended');
    expect(one.client.describeFailures()).toContain('the ticket ran out');
    // Nothing was offered, so the servers will end the session in time.
    expect(one.dialer.links.slice(1).every(({ offer }) => offer === undefined)).toBe(true);
    expect(authenticator.begun.length).toBeLessThan(20);

    authenticator.trouble = undefined;
    one.dialer.onDial = () => undefined;
    await letIn(await one.nextLink());
    expect(one.client.state).toBe('reconnected');
    expect(one.client.identity).toBe(identity);
  });

  it('does not keep a session alive whose locks were lost: after S it is offered no more', async () => {
    const { world: one } = await connected();
    one.dialer.onDial = (link) => {
      link.open();
      void promisesSettled().then(() => {
        link.grant(10_000, 0x5678n);
        link.answerToken(-115);
      });
    };
    one.link.hangUp();
    for (let step = 0; step < 90; step += 1) await one.clock.advance(100);
    const inTime = one.dialer.links.length;
    expect(one.dialer.links.slice(1).every(({ offer }) => (offer?.sessionId ?? 0x1234n) === 0x1234n)).toBe(true);
    for (let step = 0; step < 50; step += 1) await one.clock.advance(100);
    expect(one.client.state).toBe('lost');
    const later = one.dialer.links.slice(-3);
    expect(one.dialer.links.length - inTime).toBeGreaterThan(4);
    expect(later.map(({ offer }) => offer?.sessionId)).not.toContain(0x1234n);

    one.dialer.onDial = () => undefined;
    await letIn(await one.nextLink());
    expect(one.client.state).toBe('reconnected');
    expect(one.client.identity?.id).not.toBe(0x1234n);
    expect(one.client.certainUntil()).toBeGreaterThan(one.clock.now());
    // What is left of the old session must not stand in the way of its own successor.
    const ending = one.link;
    expect(ending.destroyed).toBe(false);
    await letIn(ending);
    expect(ending.offer).toMatchObject({ sessionId: 0x1234n, lastZxid: 0n });
    expect(ending.operations()).toEqual(['closeSession']);
    ending.answer();
    await promisesSettled();
    expect(one.dialer.open).toHaveLength(1);
  });
});
