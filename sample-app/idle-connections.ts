import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Zero would mean for ever. */
const SHORTEST_MS = 1;

/**
 * A server that closes waits for its connections. Node ends those that are idle at that moment; these would be waited for
 * until a browser tires of them: what was opened ahead of need and never sent a byte (ten seconds in Chromium), and what
 * becomes idle afterwards, such as a stream that ended just now.
 */
@Injectable()
export class IdleConnections implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #sockets = new Set<Socket>();

  constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

  onApplicationBootstrap(): void {
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  beforeApplicationShutdown(): void {
    this.#server.keepAliveTimeout = SHORTEST_MS;
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }

  get #server(): Server {
    return this.host.httpAdapter.getHttpServer() as Server;
  }
}
