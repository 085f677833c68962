import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { create, exists, get, list, multi, set, type Acl } from '../../lib/session/requests.js';
import { SocketDialer } from '../../lib/session/wire/socket-dialer.js';
import { createCertificates, type Certificates } from '../support/zookeeper/certificates.js';
import { startZooKeeper, type StandaloneServer } from '../support/zookeeper/start-zookeeper.js';
import { OpenLink } from './wire-codec-open-link.js';

const acl: readonly Acl[] = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const watcher = { onWatchEvent: () => undefined };
const plain = new SocketDialer({ acl });

let certificates: Certificates;
let server: StandaloneServer;

beforeAll(async () => {
  certificates = await createCertificates();
  server = await startZooKeeper({ tls: { certificates, clientAuth: 'need' } });
}, 60_000);

afterAll(async () => {
  await server.stop();
  await certificates.remove();
});

async function opened(host = '127.0.0.1'): Promise<OpenLink> {
  const client = new OpenLink(plain, host, server.port);
  await client.opened;
  return client;
}

describe('a link to a real server', () => {
  it('carries requests, replies and events', async () => {
    const client = await opened('localhost');
    await client.request(create('/q', 'persistent'));
    await client.request(list('/q', watcher));
    const [made, listed] = await Promise.all([
      client.request(create('/q/lock-', 'ephemeral-sequential', Buffer.from('me'))),
      client.request(list('/q')),
    ]);

    expect(made.path).toBe('/q/lock-0000000000');
    expect(listed.children).toEqual(['lock-0000000000']);
    expect(client.events).toEqual([{ type: 'children', path: '/q' }]);
    expect(client.link.lastZxid).toBe(made.stat.czxid);
    client.link.destroy();
  });

  it('leaves the data of an answer as it came when the next answer arrives', async () => {
    const client = await opened();
    for (const name of ['one', 'two']) await client.request(create(`/${name}`, 'ephemeral', Buffer.from(name)));
    const one = await client.request(get('/one'));
    const two = await client.request(get('/two'));

    expect([String(one.data), String(two.data)]).toEqual(['one', 'two']);
    client.link.destroy();
  });

  it('carries data and lists of a megabyte both ways', async () => {
    const client = await opened();
    const data = Buffer.alloc(1_000_000, 'data');
    await client.request(create('/large', 'persistent', data));
    expect(data.equals((await client.request(get('/large'))).data)).toBe(true);

    const names = Array.from({ length: 5000 }, (_, at) => `child-${String(at).padStart(195, 'x')}`);
    await Promise.all(names.map((name) => client.request(create(`/large/${name}`, 'ephemeral'))));
    const { children } = await client.request(list('/large'));
    expect([...children].sort()).toEqual(names.sort());
    client.link.destroy();
  });

  it('knows the czxid of what a multi creates, also while others write', async () => {
    const noisy = await opened();
    const client = await opened();
    await client.request(create('/noise', 'persistent'));
    let going = true;
    const noise = (async () => {
      while (going) await Promise.all(Array.from({ length: 20 }, () => noisy.request(set('/noise', Buffer.from('x')))));
    })();

    for (let round = 0; round < 50; round += 1) {
      const path = `/noise/${round}`;
      const parts = [create(path, 'ephemeral'), create(`${path}-box`, 'container'), set('/noise', Buffer.alloc(1))];
      const results = await client.request(multi(parts));
      const stats = await Promise.all([client.request(exists(path)), client.request(exists(`${path}-box`))]);
      expect(results).toMatchObject([
        { op: 'create', path, stat: { czxid: stats[0]?.czxid, ephemeralOwner: stats[0]?.ephemeralOwner } },
        { op: 'create', path: `${path}-box`, stat: { czxid: stats[1]?.czxid } },
        { op: 'set', stat: { mzxid: stats[0]?.czxid } },
      ]);
    }
    going = false;
    await noise;
    noisy.link.destroy();
    client.link.destroy();
  });

  it.each(['localhost', '127.0.0.1'])('speaks mutual TLS with %s', async (host) => {
    const { ca, client: identity } = certificates;
    const dialer = new SocketDialer({ acl, tls: { ca, cert: identity.cert, key: identity.key } });
    const client = new OpenLink(dialer, host, server.securePort);
    const { sessionId } = await client.opened;
    expect(sessionId).toBeGreaterThan(0n);

    const data = Buffer.alloc(1000, 'tls');
    const paths = Array.from({ length: 500 }, (_, at) => `/tls-${host}-${at}`);
    const made = await Promise.all(paths.map((path) => client.request(create(path, 'ephemeral', data))));
    expect(made.map(({ path }) => path)).toEqual(paths);
    const read = await Promise.all(paths.map((path) => client.request(get(path))));
    expect(read.every((node) => data.equals(node.data))).toBe(true);
    client.link.destroy();
  });

  it('says why a TLS connection failed', async () => {
    const { ca, client: identity } = certificates;
    const untrusting = new SocketDialer({ acl, tls: { cert: identity.cert, key: identity.key } });
    const stranger = new SocketDialer({ acl, tls: { ca, cert: identity.cert, key: 'no key' } });
    const anonymous = new SocketDialer({ acl, tls: { ca } });
    const causeOf = async (dialer: SocketDialer, port: number) =>
      (await new OpenLink(dialer, 'localhost', port).closed).message;

    expect(await causeOf(untrusting, server.securePort)).toMatch(
      /TLS connection to localhost:\d+ .*failed: .*certificate/,
    );
    expect(await causeOf(stranger, server.securePort)).toMatch(/TLS connection to localhost:\d+ failed: /);
    expect(await causeOf(anonymous, server.securePort)).toMatch(/localhost:\d+/);
    expect(await causeOf(plain, server.securePort)).toMatch(/localhost:\d+/);
    expect(await causeOf(new SocketDialer({ acl, tls: { ca } }), server.port)).toMatch(/localhost:\d+/);
  });
});
