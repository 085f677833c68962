import type { Clock } from '../../lock/clock.js';
import { SessionError } from '../errors.js';
import { SingleCall } from './call.js';
import { Connection, type ConnectionOwner } from './connection.js';
import type { Traffic } from './conversation.js';
import type { Dialer, HandshakeReply, Server } from './link.js';

export interface Credentials {
  readonly id: bigint;
  readonly password: Uint8Array;
}

export const NO_TRAFFIC: Traffic = {
  onEvent: () => undefined,
  onAnswered: () => undefined,
  onHeard: () => undefined,
  onWatchSet: () => undefined,
  onWatchNotSet: () => undefined,
};

/**
 * Ends a session that was given up although it may still live at the servers, so that its nodes do not stand in the way
 * of its successor. It asks each server once, by id and password, until one has closed the session or no longer knows
 * it.
 */
export class AbandonedSession implements ConnectionOwner {
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  readonly #dialer: Dialer;
  readonly #patienceMs: number;
  readonly #servers: Server[];
  #connection: Connection | undefined;

  constructor(credentials: Credentials, clock: Clock, dialer: Dialer, servers: readonly Server[], patienceMs: number) {
    this.#credentials = credentials;
    this.#clock = clock;
    this.#dialer = dialer;
    this.#servers = [...servers];
    this.#patienceMs = patienceMs;
    this.#tryNext();
  }

  onOffering(): void {
    // No lock counts on this session any more, so no certainty has to be lowered.
  }

  onAttached(connection: Connection, reply: HandshakeReply): void {
    connection.startLiveness(reply.timeoutMs, reply.timeoutMs);
    void closeSession(connection).then(() => {
      // When the closing failed, `onEnded` has begun to ask another server: that connection must go on.
      if (this.#connection === connection) this.stop();
    });
  }

  onExpired(): void {
    this.#connection = undefined;
  }

  onEnded(): void {
    this.#tryNext();
  }

  onAuthFailed(): void {
    // No credentials were sent.
  }

  stop(): void {
    this.#connection?.destroy(closed);
    this.#connection = undefined;
    this.#servers.length = 0;
  }

  #tryNext(): void {
    const server = this.#servers.shift();
    if (server === undefined) return;
    const { id, password } = this.#credentials;
    // With transaction 0 even a server that lags behind what this client has seen may end the session.
    const offer = { sessionId: id, password, lastZxid: 0n, timeoutMs: this.#patienceMs };
    const context = { clock: this.#clock, dialer: this.#dialer, chroot: '', owner: this, traffic: NO_TRAFFIC };
    this.#connection = new Connection(server, offer, this.#patienceMs, context);
  }
}

/**
 * Asks the server to end the session. @returns whether it did; false when the connection went away before the answer
 */
export async function closeSession(connection: Connection): Promise<boolean> {
  const call = new SingleCall({ op: 'closeSession' });
  connection.conversation.send(call);
  return call.promise.then(
    () => true,
    () => false,
  );
}

export function closed(): SessionError {
  return new SessionError('CLOSED', 'The ZooKeeper session was closed');
}
