import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as secure } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { HttpAdapterHost } from '@nestjs/core';
import { IdleConnections } from '../../../lib/nest/idle-connections.js';
import { within } from '../../support/process/eventually.js';
import { type Certificates, createCertificates } from '../../support/zookeeper/certificates.js';

/** Of what would hold a server for longer, a connection that sends nothing is ended by Node itself after a minute. */
const CLOSED_WITHIN_MS = 20_000;
const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

/** What Nest does: the hooks, and then the server is closed. */
class Application {
  readonly #hooks: IdleConnections;

  private constructor(readonly server: Server) {
    this.#hooks = new IdleConnections({ httpAdapter: { getHttpServer: () => server } } as unknown as HttpAdapterHost);
  }

  static async of(server: Server): Promise<Application> {
    const application = new Application(server);
    application.#hooks.onApplicationBootstrap();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return application;
  }

  /** Resolves when both sides know of it. */
  async connect(): Promise<Socket> {
    const accepted = once(this.server, 'connection');
    const socket = connect((this.server.address() as AddressInfo).port, '127.0.0.1');
    await Promise.all([once(socket, 'connect'), accepted]);
    return socket;
  }

  beginToShutDown(): void {
    this.#hooks.beforeApplicationShutdown();
  }

  async closed(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    await within(CLOSED_WITHIN_MS, 'the server is closed', closed);
  }
}

const answer: RequestListener = (_request, response) => response.end('answered');

describe('connections of an application that shuts down', () => {
  let certificates: Certificates;
  beforeAll(async () => {
    certificates = await createCertificates();
  });
  afterAll(() => certificates.remove());

  function newServer(kind: string, handler: RequestListener = answer): Server {
    return kind === 'http' ? createServer(handler) : createSecureServer({ ...certificates.client }, handler);
  }

  async function ask(kind: string, socket: Socket): Promise<string> {
    const stream = kind === 'http' ? socket : secure({ socket, rejectUnauthorized: false });
    stream.write(REQUEST);
    return text(stream);
  }

  describe.each(['http', 'https'])('%s', (kind) => {
    it('are answered where the first bytes were still under way', async () => {
      const application = await Application.of(newServer(kind));
      const socket = await application.connect();
      application.beginToShutDown();
      const asked = ask(kind, socket);
      await application.closed();

      expect(await asked).toContain('answered');
    });

    it('end where nothing is ever sent, be it that they come while it shuts down', async () => {
      const application = await Application.of(newServer(kind));
      const before = await application.connect();
      application.beginToShutDown();
      const during = await application.connect();
      const ends = [before, during].map((socket) => once(socket.resume(), 'close'));
      await application.closed();

      await Promise.all(ends);
    });

    it('are not cut off while a request is answered, however long that takes', async () => {
      const responded: (() => void)[] = [];
      const server = newServer(kind, (_request, response) => {
        responded.push(() => response.end('answered'));
        server.emit('asked');
      });
      const application = await Application.of(server);
      const begun = once(server, 'asked');
      const asked = ask(kind, await application.connect());
      await begun;
      const idle = await application.connect();
      application.beginToShutDown();
      const closed = application.closed();
      // By then all that were to be ended are.
      await once(idle.resume(), 'close');
      for (const respond of responded) respond();

      expect(await asked).toContain('answered');
      await closed;
    });
  });
});
