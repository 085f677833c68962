import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { get, set } from '../../lib/session/requests.js';
import { MalformedFrameError } from '../../lib/session/wire/jute-reader.js';
import { SocketDialer } from '../../lib/session/wire/socket-dialer.js';
import { eventually } from '../support/process/eventually.js';
import { FrameSplitter } from '../support/proxy/frames.js';
import { readRequest } from '../support/proxy/records.js';
import { HeldResolver } from '../support/sessions/held-resolver.js';
import { TYPESCRIPT_FLAGS } from '../support/typescript/flags.js';
import { OpenLink } from './wire-codec-open-link.js';

const dialer = new SocketDialer({ acl: [] });
const secureDialer = new SocketDialer({ acl: [], tls: {} });
/** Of a session 0 with a time-out of 0 ms. */
const HANDSHAKE_REPLY = Buffer.alloc(4 + 37);
HANDSHAKE_REPLY.writeInt32BE(37);
HANDSHAKE_REPLY.writeInt32BE(16, 20);
const servers: Server[] = [];
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function listen(onConnection: (socket: Socket) => void, host = '127.0.0.1', port = 0): Promise<number> {
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  servers.push(server);
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function unusedPort(): Promise<number> {
  const port = await listen(() => undefined);
  const server = servers.pop();
  server?.close();
  await once(server ?? createServer(), 'close');
  return port;
}

class LinkEndedByHandshake extends OpenLink {
  override onHandshake(): void {
    this.told.push('handshake');
    this.link.destroy();
  }
}

describe('The reason why a connection failed', () => {
  it('is told when it was refused', async () => {
    const port = await unusedPort();
    const { message } = await new OpenLink(dialer, '127.0.0.1', port).closed;

    expect(message).toBe(`127.0.0.1:${port} refused the connection (ECONNREFUSED)`);
  });

  it('is told of a name that cannot be resolved', async () => {
    const resolver = new HeldResolver();
    const client = new OpenLink(new SocketDialer({ acl: [], resolver }), 'zk1', 2181);
    await turn();
    resolver.fail(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));

    expect((await client.closed).message).toBe('zk1:2181: the name cannot be resolved (ENOTFOUND)');
  });

  it('is told with the address where the name is another word', async () => {
    const port = await unusedPort();
    const resolver = new HeldResolver();
    const client = new OpenLink(new SocketDialer({ acl: [], resolver }), 'zk1', port);
    await turn();
    resolver.answer('127.0.0.1');

    expect((await client.closed).message).toBe(`zk1:${port} (127.0.0.1) refused the connection (ECONNREFUSED)`);
  });

  it('is told of a port that is none', async () => {
    const { message } = await new OpenLink(dialer, '127.0.0.1', 99_999).closed;

    expect(message).toMatch(/127\.0\.0\.1:99999 failed: .*ERR_SOCKET_BAD_PORT/);
  });

  it('is told of a server that hangs up at once', async () => {
    const port = await listen((socket) => socket.end());

    expect((await new OpenLink(dialer, '127.0.0.1', port).closed).message).toMatch(/may not be serving now/);
  });

  it('is told of a server that hangs up on TLS, which we speak already', async () => {
    const port = await listen((socket) => socket.once('data', () => socket.end()));
    const { message } = await new OpenLink(secureDialer, '127.0.0.1', port).closed;

    expect(message).toBe(
      `127.0.0.1:${port} closed the connection instead of opening a session: it may not be serving now (no quorum), ` +
        'have too many connections from this address (maxClientCnxns), or not be a secureClientPort',
    );
  });

  it('is told of a server that answers TLS with something else, without what OpenSSL knows of itself', async () => {
    const port = await listen((socket) => socket.resume().write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const { message, cause } = await new OpenLink(secureDialer, '127.0.0.1', port).closed;

    expect(message).toBe(
      `the TLS connection to 127.0.0.1:${port} failed: wrong version number (ERR_SSL_WRONG_VERSION_NUMBER)`,
    );
    expect(cause).toMatchObject({ code: 'ERR_SSL_WRONG_VERSION_NUMBER' });
  });

  it('is told of a server that speaks something else', async () => {
    const port = await listen((socket) => socket.resume().write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const client = new OpenLink(dialer, '127.0.0.1', port);
    const cause = await client.closed;

    expect(cause).toBeInstanceOf(MalformedFrameError);
    expect(cause.message).toMatch(/^127\.0\.0\.1:\d+ sent .*HTTP/);
    await once(sockets[0] ?? createServer(), 'close');
    expect(client.told).toEqual(['open', 'activity', 'closed']);
  });
});

describe('What a link is busy with', () => {
  it('is the name, the connection, TLS, and then nothing that it could tell', async () => {
    const port = await listen((socket) => socket.resume());
    const resolver = new HeldResolver();
    const client = new OpenLink(new SocketDialer({ acl: [], tls: {}, resolver }), 'zk1', port);
    expect(client.link.stage).toBe('resolving');
    await turn();
    resolver.answer('127.0.0.1');
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(client.link.stage).toBe('connecting');
    await eventually('the server is reached', () => client.link.stage === 'securing');
    client.link.destroy();

    const plain = new OpenLink(dialer, '127.0.0.1', port);
    await plain.connected;
    expect(plain.link.stage).toBeUndefined();
    plain.link.destroy();
  });
});

describe('a link', () => {
  it.each(['127.0.0.1', '::1'])('reaches localhost in one attempt when it listens on %s alone', async (address) => {
    const port = await listen((socket) => socket.end(), address);
    const client = new OpenLink(dialer, 'localhost', port);
    await client.closed;

    expect(client.told[0]).toBe('open');
  });

  it.each(['hangs up', 'speaks something else', 'is silent'])(
    'reaches localhost at the second attempt when what listens on IPv4 %s',
    async (what) => {
      const port = await listen((socket) => {
        if (what === 'hangs up') socket.end();
        else if (what === 'speaks something else') socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
      });
      await listen((socket) => socket.write(HANDSHAKE_REPLY), '::1', port);
      const book = new SocketDialer({ acl: [] });
      const first = new OpenLink(book, 'localhost', port);
      await first.connected;
      // The time of those who wait for a session is up.
      if (what === 'is silent') first.link.destroy();
      else await first.closed;

      const second = new OpenLink(book, 'localhost', port);
      await second.opened;
      second.link.destroy();

      // A link that ended after its handshake says nothing against its address.
      const third = new OpenLink(book, 'localhost', port);
      await third.opened;
      third.link.destroy();
    },
  );

  it('takes the spare when the first address is silent', async () => {
    const port = await listen((socket) => socket.end(), '::1');
    const resolver = new HeldResolver();
    const client = new OpenLink(new SocketDialer({ acl: [], resolver }), 'zk1', port);
    await turn();
    // From a block kept for documentation: packets to it come back as unreachable, or never.
    resolver.answer('192.0.2.1', '::1');
    await client.closed;

    expect(client.told[0]).toBe('open');
  });
});

describe('destroy()', () => {
  it('lets what was queued leave, then ends the connection', async () => {
    const received: Buffer[] = [];
    const ended = new Promise<void>((resolve) => {
      void listen((socket) => {
        socket.on('data', (chunk: Buffer) => received.push(chunk));
        socket.on('end', resolve);
      }).then(async (port) => {
        const client = new OpenLink(dialer, '127.0.0.1', port);
        await client.connected;
        client.link.send(1, set('/last', Buffer.alloc(900_000), -1), '');
        client.link.send(2, { op: 'closeSession' }, '');
        client.link.destroy();
      });
    });
    await ended;

    const [, ...requests] = new FrameSplitter().push(Buffer.concat(received));
    expect(requests.map((frame) => readRequest(frame).opcode)).toEqual(['setData', 'closeSession']);
  });

  it('says nothing more, in whatever state', async () => {
    const port = await listen((socket) => socket.write(Buffer.alloc(64)));
    const starting = new OpenLink(dialer, '127.0.0.1', port);
    starting.link.destroy();

    const connecting = new OpenLink(dialer, '127.0.0.1', port);
    await new Promise<void>((resolve) => process.nextTick(resolve));
    connecting.link.destroy();

    const resolver = new HeldResolver();
    const resolving = new OpenLink(new SocketDialer({ acl: [], resolver }), 'zk1', port);
    await turn();
    resolving.link.destroy();
    resolver.answer('127.0.0.1');

    const open = new OpenLink(dialer, '127.0.0.1', port);
    await open.connected;
    open.link.destroy();
    open.link.destroy();
    expect(open.link.send(1, get('/a'), '')).toBe(true);

    // A whole connection later, all that could have come has come.
    const later = new OpenLink(dialer, '127.0.0.1', port);
    await later.closed;
    expect(resolver.cancelled).toBe(1);
    expect([starting, connecting, resolving, open].map(({ told }) => told)).toEqual([[], [], [], ['open']]);
  });

  it('says nothing of the frames behind the one whose listener destroyed the link', async () => {
    const event = Buffer.concat([
      Buffer.from('00000019ffffffffffffffffffffffff000000000000000100000003', 'hex'),
      Buffer.from('0000000161', 'hex'),
    ]);
    const port = await listen((socket) => socket.resume().write(Buffer.concat([HANDSHAKE_REPLY, event])));
    const client = new LinkEndedByHandshake(dialer, '127.0.0.1', port);
    await client.connected;
    const [socket] = sockets;
    await once(socket ?? createServer(), 'close');

    expect(client.told).toEqual(['open', 'activity', 'handshake']);
  });

  it('drops the connection soon when the server takes nothing', async () => {
    const port = await listen((socket) => socket.pause());
    const opened: Socket[] = [];
    class WatchedDialer extends SocketDialer {
      override open(...target: Parameters<SocketDialer['open']>): Socket {
        const socket = super.open(...target);
        opened.push(socket);
        return socket;
      }
    }
    const client = new OpenLink(new WatchedDialer({ acl: [] }), '127.0.0.1', port);
    await client.connected;
    const bytes = 40_000_000;
    for (let sent = 0; sent < bytes; sent += 1_000_000) client.link.send(1, set('/a', Buffer.alloc(1_000_000), -1), '');
    const [socket] = opened;
    if (socket === undefined) throw new Error('No socket was opened.');
    client.link.destroy();
    expect(socket.writableLength).toBeGreaterThan(0);
    await once(socket, 'close');

    expect(client.told).toEqual(['open']);
  });

  it.each(['served', 'silent', 'refused'])('does not keep the process alive: %s', async (scene) => {
    const answer = Buffer.alloc(4 + 37);
    answer.writeInt32BE(37);
    const port =
      scene === 'refused'
        ? await unusedPort()
        : await listen((socket) => (scene === 'served' ? socket.write(answer) : socket.pause()));
    const script = fileURLToPath(new URL('wire-codec-exit.ts', import.meta.url));
    const child = spawn(process.execPath, [...TYPESCRIPT_FLAGS, script, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];

    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^\d+$/) });
    expect(Number(output)).toBeLessThan(200);
  });
});
