import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LockUnavailableError } from '../../../lib/lock/errors.js';
import { openSession, whenUp } from '../../../lib/open.js';
import type { DistributedLockOptions } from '../../../lib/options.js';
import { resolveOptions } from '../../../lib/resolve-options.js';
import type { SessionClient } from '../../../lib/session/core/session-client.js';
import { create, exists, get } from '../../../lib/session/requests.js';
import type { NameResolver } from '../../../lib/session/wire/name-resolver.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import {
  closeOpenSessions,
  closedAfterwards,
  openWire,
  untilState,
  untilUp,
} from '../../support/sessions/wire-session.js';
import { createCertificates, type Certificates } from '../../support/zookeeper/certificates.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const DATA = Buffer.from('data');

function openSecure(options: DistributedLockOptions): SessionClient {
  return closedAfterwards(openSession(resolveOptions({ sessionTimeoutMs: 4_000, serverTickMs: 500, ...options })));
}

describe('TLS', () => {
  let certificates: Certificates;
  let open: StandaloneServer;
  let mutual: StandaloneServer;

  beforeAll(async () => {
    certificates = await createCertificates({ serverNames: ['DNS:zk1.test', 'DNS:localhost', 'IP:127.0.0.1'] });
    [open, mutual] = await Promise.all([
      startZooKeeper({ tickTimeMs: 500, tls: { certificates, clientAuth: 'none' } }),
      startZooKeeper({ tickTimeMs: 500, tls: { certificates, clientAuth: 'need' } }),
    ]);
  });
  afterEach(closeOpenSessions);
  afterAll(async () => {
    await Promise.all([open.stop(), mutual.stop()]);
    await certificates.remove();
  });

  async function failure(options: DistributedLockOptions): Promise<string> {
    const session = openSecure(options);
    const error: unknown = await whenUp(session, 1_500).catch((reason: unknown) => reason);
    await session.close();
    expect(error).toBeInstanceOf(LockUnavailableError);
    const { details } = error as LockUnavailableError;
    expect(details).not.toMatch(/\n|error:|\.c:\d/);
    return details;
  }

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no such pin');
      },
      'tls: checkServerIdentity failed: no such pin',
    ],
    ['refuses', () => new Error('another pin'), 'another pin'],
    ['is asynchronous', () => Promise.reject(new Error('too late')), 'or nothing where it agrees, not a promise'],
    ['says no in its own way', () => false, 'or nothing where it agrees, not a boolean'],
  ])('fails the attempt where the check of the application %s, and nothing else', async (_, check, text) => {
    // What reaches the process fails the whole file.
    const tls = { ca: certificates.ca, checkServerIdentity: check as () => undefined };
    expect(await failure({ connect: `localhost:${open.securePort}`, tls })).toContain(text);
  });

  it('works, and survives a cut of the connection', async () => {
    await using proxy = await startProxy({ target: open.securePort, raw: true });
    const session = openSecure({ connect: proxy.connect, tls: { ca: certificates.ca } });
    await whenUp(session, 10_000);
    const { path, stat } = await replyTo(session, create('/secure-', 'ephemeral-sequential', DATA));

    proxy.cut();
    await untilState(session, 'suspended');
    await untilUp(session);

    expect(await replyTo(session, exists(path))).toEqual(stat);
    await session.close();
  });

  it('carries long answers one behind the other, and the data of each stays as it came', async () => {
    const session = openSecure({ connect: `127.0.0.1:${open.securePort}`, tls: { ca: certificates.ca } });
    await whenUp(session, 10_000);
    const sent = ['a', 'b', 'c', 'd'].map((letter, index) => Buffer.alloc(7 + index * 300_000, letter));
    const made = await session.batch(sent.map((data) => create('/long-', 'ephemeral-sequential', data)));
    const paths = made.map((outcome) => (outcome instanceof Error ? '' : outcome.path));
    const found = await session.batch(paths.map((path) => get(path)));

    expect(found.map((outcome) => (outcome instanceof Error ? outcome : outcome.data))).toEqual(sent);
    await session.close();
  });

  it('makes the certificate the identity that an ACL may name, where both sides have one', async () => {
    const connect = `127.0.0.1:${mutual.securePort}`;
    const { ca, client, otherClient } = certificates;
    const acl = [{ permissions: 31, scheme: 'x509', id: client.x509Id }];
    const owner = openSecure({ connect, acl, tls: { ca, key: client.key, cert: client.cert } });
    const other = openSecure({ connect, tls: { ca, key: otherClient.key, cert: otherClient.cert } });
    await Promise.all([whenUp(owner, 10_000), whenUp(other, 10_000)]);

    const { path } = await replyTo(owner, create('/mutual-', 'ephemeral-sequential', DATA));

    expect(await replyTo(owner, get(path))).toMatchObject({ stat: { dataLength: DATA.length } });
    await expect(replyTo(other, get(path))).rejects.toMatchObject({ code: 'NO_AUTH' });
    await Promise.all([owner.close(), other.close()]);
  });

  /** Every name is this machine. */
  const everywhere: NameResolver = { resolve: () => Promise.resolve(['127.0.0.1']) };

  it.each(['zk1.test', 'zk1.test.'])('works with the name %s, with or without the dot of the root', async (host) => {
    const dialer = { tls: { ca: certificates.ca }, resolver: everywhere };
    const session = openWire([{ host, port: open.securePort }], { dialer });

    await untilUp(session);
    await session.close();
  });

  it('works with the spare address of a name when the first is silent', async () => {
    // From a block kept for documentation: packets to it come back as unreachable, or never.
    const resolver: NameResolver = { resolve: () => Promise.resolve(['192.0.2.1', '::1']) };
    const dialer = { tls: { ca: certificates.ca }, resolver };
    const forwarder = createServer((socket) => {
      pipeline(socket, connect(open.securePort, '127.0.0.1'), socket, () => undefined);
    });
    forwarder.listen(0, '::1');
    await once(forwarder, 'listening');
    const { port } = forwarder.address() as AddressInfo;
    const session = openWire([{ host: 'zk1.test', port }], { dialer });

    await untilUp(session);
    await session.close();
    forwarder.close();
  });

  it('checks the certificate for the servername that was given, not for the name that was dialled', async () => {
    const tls = { ca: certificates.ca, servername: 'zk1.test' };
    const session = openWire([{ host: 'elsewhere.test', port: open.securePort }], {
      dialer: { tls, resolver: everywhere },
    });

    await untilUp(session);
    await session.close();
  });

  it('refuses a server that has another name than the servername, although it has the one that was dialled', async () => {
    const connect = `127.0.0.1:${open.securePort}`;
    const { ca } = certificates;

    const session = openSecure({ connect, tls: { ca, servername: 'localhost' } });
    await whenUp(session, 10_000);
    await session.close();
    expect(await failure({ connect, tls: { ca, servername: 'zk2.test' } })).toMatch(/zk2\.test/);
  });

  it('refuses a server that has another name than the one that was dialled', async () => {
    const dialer = { tls: { ca: certificates.ca }, resolver: everywhere };
    const session = openWire([{ host: 'elsewhere.test', port: open.securePort }], { dialer });

    const error: unknown = await whenUp(session, 1_500).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LockUnavailableError);
    expect((error as LockUnavailableError).details).toMatch(/elsewhere\.test/);
    await session.close();
  });

  it('says what is wrong: an authority that is not trusted', async () => {
    const connect = `127.0.0.1:${open.securePort}`;

    expect(await failure({ connect, tls: {} })).toMatch(/certificate/i);
  });

  it('says what is wrong: a client certificate that is missing, or of a stranger', async () => {
    const connect = `127.0.0.1:${mutual.securePort}`;
    const { ca, stranger } = certificates;

    expect(await failure({ connect, tls: { ca } })).toMatch(/certificate|TLS/i);
    expect(await failure({ connect, tls: { ca, key: stranger.key, cert: stranger.cert } })).toMatch(/certificate|TLS/i);
  });

  it('says what is wrong: one side speaks TLS, the other does not', async () => {
    const plainToSecure = await failure({ connect: `127.0.0.1:${open.securePort}` });
    const secureToPlain = await failure({ connect: open.connect, tls: { ca: certificates.ca } });

    expect(plainToSecure).toContain(`127.0.0.1:${open.securePort}`);
    expect(secureToPlain).toContain('or not be a secureClientPort');
  });
});
