import { SessionError } from '../errors.js';
import type { SessionSettings } from '../options.js';
import { sendTogether } from './call.js';
import { Connection, type ConnectionOwner } from './connection.js';
import type { Dialer, HandshakeReply, Server } from './link.js';

/** A session as the servers granted it. */
export interface Granted {
  readonly id: bigint;
  readonly password: Uint8Array;
  readonly timeoutMs: number;
}

/**
 * Ends a session that was given up although it may still live at the servers, so that its nodes do not stand in the way
 * of its successor. It asks each server once, by id and password, until one has closed the session or no longer knows
 * it.
 */
export class AbandonedSession implements ConnectionOwner {
  readonly #granted: Granted;
  readonly #settings: SessionSettings;
  readonly #dialer: Dialer;
  readonly #attemptMs: number;
  readonly #servers: Server[];
  #connection: Connection | undefined;

  constructor(granted: Granted, settings: SessionSettings, dialer: Dialer, attemptMs: number) {
    this.#granted = granted;
    this.#settings = settings;
    this.#dialer = dialer;
    this.#servers = [...settings.servers];
    this.#attemptMs = attemptMs;
    this.#tryNext();
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

  stop(): void {
    this.#connection?.destroy(closed);
    this.#connection = undefined;
    this.#servers.length = 0;
  }

  #tryNext(): void {
    const server = this.#servers.shift();
    if (server === undefined) return;
    const { id, password } = this.#granted;
    // With transaction 0 even a server that lags behind what this client has seen may end the session.
    const offer = { sessionId: id, password, lastZxid: 0n, timeoutMs: this.#attemptMs };
    const { clock, authenticator } = this.#settings;
    const context = { clock, dialer: this.#dialer, chroot: '', owner: this, traffic: undefined, authenticator };
    this.#connection = new Connection(server, offer, this.#attemptMs, context);
  }
}

/**
 * Asks the server to end the session. @returns whether it did; false when the connection went away before the answer
 */
export async function closeSession({ conversation }: Connection): Promise<boolean> {
  const [outcome] = await sendTogether([{ op: 'closeSession' }], (call) => conversation.send(call));
  return !(outcome instanceof SessionError);
}

export function closed(): SessionError {
  return new SessionError('CLOSED', 'The ZooKeeper session was closed');
}
