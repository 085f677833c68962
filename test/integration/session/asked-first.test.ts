import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SocketDialer } from '../../../lib/session/wire/socket-dialer.js';
import { eventually } from '../../support/process/eventually.js';
import { createCertificates, type Certificates } from '../../support/zookeeper/certificates.js';
import { startEnsemble, type Ensemble } from '../../support/zookeeper/ensemble.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { OpenLink } from '../wire-codec-open-link.js';

const plain = new SocketDialer({ acl: [] });

function ask(port: number, dialer = plain): OpenLink {
  return new OpenLink(dialer, '127.0.0.1', port, { asksFirst: true });
}

async function isOpened(link: OpenLink): Promise<void> {
  const { timeoutMs } = await link.opened;
  expect(timeoutMs).toBeGreaterThan(0);
  // What passed before the session was opened is no sign of its life.
  expect(link.told.slice(0, 3)).toEqual(['open', 'activity', 'handshake']);
  link.link.destroy();
}

describe('A server that is asked first whether it serves', () => {
  let certificates: Certificates;
  let server: StandaloneServer;

  beforeAll(async () => {
    certificates = await createCertificates();
    server = await startZooKeeper({ tls: { certificates, clientAuth: 'none' } });
  }, 60_000);

  afterAll(async () => {
    await server.stop();
    await certificates.remove();
  });

  it('is offered the session when it does', async () => {
    await isOpened(ask(server.port));
  });

  it('is offered the session when it does, over TLS', async () => {
    const dialer = new SocketDialer({ acl: [], tls: { ca: certificates.ca } });
    await isOpened(ask(server.securePort, dialer));
  });

  it('may always say so, whatever its administrator allows', async () => {
    const strict = await startZooKeeper({ extraConfig: { '4lw.commands.whitelist': 'ruok' } });
    expect(await strict.fourLetter('mntr')).toMatch(/not in the whitelist/);
    await isOpened(ask(strict.port));
    await strict.stop();
  });
});

describe('A server without a quorum that is asked first whether it serves', () => {
  let ensemble: Ensemble;

  beforeAll(async () => {
    ensemble = await startEnsemble();
  }, 60_000);

  afterAll(() => ensemble.stop());

  it('is offered nothing', async () => {
    const [one, two] = await ensemble.followers();
    const [alone] = ensemble.servers.filter((server) => server !== one && server !== two);
    await Promise.all([one?.kill(), two?.kill()]);
    const says = `127.0.0.1:${alone!.port} says that it serves nobody now (no quorum)`;
    await eventually('it says that it is alone', async () => {
      const link = ask(alone!.port);
      // Until it has noticed it serves, and while it makes the change it hangs up without a word.
      const message = await Promise.race([
        link.closed.then((cause) => cause.message),
        link.opened.then(() => undefined),
      ]);
      link.link.destroy();
      if (message !== undefined) expect(link.told).toEqual(['closed']);
      return message === says;
    });
  }, 60_000);
});

describe('Where something else may listen, and is asked first,', () => {
  const servers: Server[] = [];
  const sockets: Socket[] = [];

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  /** @returns its port; each connection is played by `play` once the question came */
  async function listening(play: (socket: Socket, question: string) => void): Promise<number> {
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => socket.destroy());
      socket.once('data', (chunk: Buffer) => play(socket, chunk.toString('latin1')));
    });
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  it('a server of which clients may only read is offered nothing', async () => {
    const port = await listening((socket) => socket.end('Zookeeper version: 3.8.0\nMode: read-only\nNode count: 5\n'));
    expect((await ask(port).closed).message).toMatch(/serves nobody now/);
  });

  it('a server that may not answer is offered the session', async () => {
    const refusal = 'srvr is not executed because it is not in the whitelist.\n';
    const port = await listening((socket, question) => question === 'srvr' && socket.end(refusal));
    const link = ask(port);
    await link.connected;
    link.link.destroy();
  });

  it('an answer in pieces is put together', async () => {
    const questions: string[] = [];
    const port = await listening((socket, question) => {
      questions.push(question);
      if (question !== 'srvr') return;
      socket.write('Zookeeper version: 3.8.0\nMo');
      setImmediate(() => socket.end('de: leader\nNode count: 5\n'));
    });
    const link = ask(port);
    await link.connected;
    await eventually('the handshake comes', () => questions.length === 2);
    expect(questions[0]).toBe('srvr');
    link.link.destroy();
  });

  it('a server that hangs up without a word is offered nothing', async () => {
    const port = await listening((socket) => socket.end());
    const link = ask(port);
    expect((await link.closed).message).toMatch(/closed the connection instead of saying whether it serves/);
    expect(link.told).toEqual(['closed']);
  });

  it('a server that says nothing is waited for, and given up without a trace', async () => {
    let asked = 0;
    const port = await listening(() => (asked += 1));
    const link = ask(port);
    await eventually('it is asked', () => asked === 1);
    expect(link.link.stage).toBe('asking');
    link.link.destroy();
    await eventually('the connection ends', () => sockets[0]?.readableEnded === true || sockets[0]?.destroyed === true);
    expect(link.told).toEqual([]);
  });
});
