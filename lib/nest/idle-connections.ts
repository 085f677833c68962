import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Zero would mean for ever. */
const SHORTEST_MS = 1;

/** A client that has just connected may need this long to be heard: a round trip, and the beginning of TLS. */
const FIRST_BYTES_WITHIN_MS = 500;

/**
 * Nest closes the session of the locks behind its servers, and a server that closes waits for its connections. Node ends those
 * that are idle at that moment; these would be waited for until their clients tire of them: what was opened ahead of need and
 * never sends a byte (ten seconds in Chromium), and what becomes idle afterwards, such as a stream that ended just now. What
 * was not heard yet may have its first bytes under way, so it is given a moment for them. No request is cut off.
 */
@Injectable()
export class IdleConnections implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #sockets = new Set<Socket>();
  #isShuttingDown = false;

  constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

  onApplicationBootstrap(): void {
    // A server with TLS has two sockets for each connection; what has been read of the inner one is what was decrypted.
    for (const event of ['connection', 'secureConnection']) this.#server?.on(event, this.#remember);
  }

  beforeApplicationShutdown(): void {
    const server = this.#server;
    if (server === undefined) return;
    // Node 22.19 and 24.6 wait so much longer than the other says.
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

  /** Undefined where nothing is served over HTTP, or by something else than Node's own server of HTTP/1. */
  get #server(): Server | undefined {
    // Nest says that there is always one; a microservice, a script and a test may have none.
    const { httpAdapter } = this.host as { readonly httpAdapter?: HttpAdapterHost['httpAdapter'] };
    const server = httpAdapter?.getHttpServer() as Partial<Server> | undefined;
    return typeof server?.keepAliveTimeout === 'number' ? (server as Server) : undefined;
  }
}

function endIfSilent(socket: Socket): void {
  if (socket.bytesRead > 0) return;
  const look = (): void => void (socket.bytesRead === 0 && socket.destroy());
  // Behind the timers of an event loop that was blocked comes the reading of what has arrived meanwhile.
  setTimeout(() => setImmediate(look), FIRST_BYTES_WITHIN_MS).unref();
}
