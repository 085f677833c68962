import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** The shortest time-out that Node takes: zero would mean for ever. */
const SHORTEST_MS = 1;

/** A client that has just connected may need this long to be heard: a round trip, and the beginning of TLS. */
const FIRST_BYTES_WITHIN_MS = 500;

/**
 * Ends idle connections when the application shuts down. Nest closes the session of the locks after its servers, and a server
 * that closes waits for its connections. Node ends those that are idle at that moment, and waits for two other kinds until
 * their clients tire of them: connections that were opened ahead of need and never send a byte (ten seconds in Chromium), and
 * connections that become idle afterwards, such as that of a stream that ended just now. No request is cut off: a connection
 * that was not heard yet may have its first bytes under way, and is given a moment for them.
 */
@Injectable()
export class IdleConnections implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #sockets = new Set<Socket>();
  #isShuttingDown = false;

  constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

  onApplicationBootstrap(): void {
    // A server with TLS has two sockets for each connection. `bytesRead` of the inner one counts what was decrypted.
    for (const event of ['connection', 'secureConnection']) this.#server?.on(event, this.#remember);
  }

  beforeApplicationShutdown(): void {
    const server = this.#server;
    if (server === undefined) return;
    // Node 22.19 and 24.6 wait for the buffer on top of the time-out.
    Object.assign(server, { keepAliveTimeout: SHORTEST_MS, keepAliveTimeoutBuffer: 0 });
    this.#isShuttingDown = true;
    for (const socket of this.#sockets) endIfSilent(socket);
  }

  readonly #remember = (socket: Socket): void => {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // The server goes on to listen until the hooks of all modules are done.
    if (this.#isShuttingDown) endIfSilent(socket);
  };

  /** The server of HTTP; undefined where there is none, or another one than Node's own for HTTP/1. */
  get #server(): Server | undefined {
    // The types of Nest say that there is always an adapter; a microservice, a script and a test may have none.
    const { httpAdapter } = this.host as { readonly httpAdapter?: HttpAdapterHost['httpAdapter'] };
    const server = httpAdapter?.getHttpServer() as Partial<Server> | undefined;
    return typeof server?.keepAliveTimeout === 'number' ? (server as Server) : undefined;
  }
}

function endIfSilent(socket: Socket): void {
  if (socket.bytesRead > 0) return;
  const look = (): void => void (socket.bytesRead === 0 && socket.destroy());
  // In an event loop that was blocked, timers run before the reading of what has arrived meanwhile: hence setImmediate.
  setTimeout(() => setImmediate(look), FIRST_BYTES_WITHIN_MS).unref();
}
