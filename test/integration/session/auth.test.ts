import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LockConfigurationError } from '../../../lib/lock/errors.js';
import { createLockService, openLockService, openSession, whenUp } from '../../../lib/open.js';
import type { DistributedLockOptions } from '../../../lib/options.js';
import { resolveOptions } from '../../../lib/resolve-options.js';
import type { SessionClient } from '../../../lib/session/core/session-client.js';
import { SessionError } from '../../../lib/session/errors.js';
import { create, exists, get, remove, set } from '../../../lib/session/requests.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import {
  closeOpenSessions,
  closedAfterwards,
  openWire,
  untilState,
  untilUp,
} from '../../support/sessions/wire-session.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const DATA = Buffer.from('secret');

function open(connect: string, auth?: DistributedLockOptions['auth']): SessionClient {
  const options = { connect, sessionTimeoutMs: 10_000, serverTickMs: 500 };
  return closedAfterwards(openSession(resolveOptions(auth === undefined ? options : { ...options, auth })));
}

describe('digest authentication', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
  });
  afterEach(closeOpenSessions);
  afterAll(() => server.stop());

  it('lets the one who made a node use it, and nobody else', async () => {
    const owner = open(server.connect, { username: 'owner', password: 'right' });
    const thief = open(server.connect, { username: 'owner', password: 'wrong' });
    const nobody = open(server.connect);
    await Promise.all([owner, thief, nobody].map((session) => whenUp(session, 5_000)));
    const { path } = await replyTo(owner, create('/owned-', 'persistent-sequential', DATA));

    expect(Buffer.from((await replyTo(owner, get(path))).data)).toEqual(DATA);
    for (const session of [thief, nobody]) {
      const outcomes = await session.batch([get(path), set(path, DATA), create(`${path}/child`, 'persistent')]);
      expect(outcomes.map((outcome) => (outcome instanceof SessionError ? outcome.code : 'answered'))).toEqual([
        'NO_AUTH',
        'NO_AUTH',
        'NO_AUTH',
      ]);
    }
    await replyTo(owner, remove(path));
    await Promise.all([owner, thief, nobody].map((session) => session.close()));
  });

  it('is done again after a reconnect, before anything else', async () => {
    await using proxy = await startProxy({ target: server.port });
    const owner = open(proxy.connect, { username: 'owner', password: 'right' });
    await untilUp(owner);
    const { path } = await replyTo(owner, create('/owned-', 'ephemeral-sequential', DATA));

    proxy.resetCounts();
    proxy.cut();
    await untilState(owner, 'suspended');
    await untilUp(owner);

    expect(await replyTo(owner, get(path))).toMatchObject({ stat: { dataLength: DATA.length } });
    const opcodes = proxy.requests().map(({ opcode }) => opcode);
    expect(opcodes.filter((opcode) => opcode !== 'ping')).toEqual(['connect', 'auth', 'exists', 'getData']);
    await owner.close();
  });

  it('ends the session where the server does not know the scheme, and the error says that it is about auth', async () => {
    const auth = [{ scheme: 'no-such-scheme', credential: Buffer.from('hush-hush') }];
    const session = openWire([server.port], { auth });
    const states: string[] = [];
    session.state$.subscribe((state) => states.push(state));

    await untilState(session, 'closed');
    expect(states).toEqual(['connecting', 'closed']);

    expect(session.failure).toBeInstanceOf(LockConfigurationError);
    expect(session.failure?.message).toMatch(/^auth: /);
    expect(session.failure?.cause).toMatchObject({ code: 'AUTH_FAILED' });
    expect(String(session.failure?.stack)).not.toContain('hush-hush');
    await expect(replyTo(session, exists('/'))).rejects.toMatchObject({ code: 'CLOSED' });
    await expect(whenUp(session, 100)).rejects.toBe(session.failure);
  });
});

describe('credentials that a server refuses', () => {
  it('fail the start and every acquire, and hold up no timer', async () => {
    const jvmFlags = ['-Dzookeeper.DigestAuthenticationProvider.enabled=false'];
    await using server = await startZooKeeper({ tickTimeMs: 500, jvmFlags });
    const options = { connect: server.connect, auth: { username: 'owner', password: 'hush-hush' } };
    await expect(createLockService(options)).rejects.toThrow(/^auth: /);

    const { service } = openLockService(resolveOptions({ ...options, startup: 'lazy' }));
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 1);
    await expect(service.acquire('/locks/a')).rejects.toThrow(/^auth: /);
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(0);
    await service.close(0);
  });
});
