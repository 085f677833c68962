import type { Link, ReplyBody, Server } from './link.js';

/** Proves to servers who this client is, by SASL: tokens go to and fro until the server is satisfied. */
export interface Authenticator {
  /**
   * Gets what the first token takes, from somebody else if need be.
   * @param signal aborts when nobody waits for it any more
   * @throws AuthenticationError
   */
  begin(server: Server, signal: AbortSignal): Promise<SaslExchange>;
}

/** The client's side of one exchange with one server. */
export interface SaslExchange {
  readonly firstToken: Uint8Array;
  /** @throws AuthenticationError */
  respond(challenge: Uint8Array): Promise<SaslResponse>;
  /** What a refusal by the server means, and what to do: it took the token and said no, or it answered without one. */
  explain(refusal: 'refused' | 'ignored'): string;
}

export interface SaslResponse {
  readonly token: Uint8Array;
  /** Whether the server only has to accept it. */
  readonly isLast: boolean;
}

/**
 * Why there is no proof for a server. Where the client is to blame, no server will accept it; where the server is,
 * another one may; the moment is to blame where the same may succeed later without anybody's doing.
 */
export class AuthenticationError extends Error {
  override readonly name = 'AuthenticationError';

  constructor(
    readonly blames: 'client' | 'server' | 'moment',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What an exchange needs of the connection that it is for. */
export interface AuthenticationOwner {
  /** The first token is there, so the session can be offered. */
  onProofReady(): void;
  onAuthenticated(): void;
  onNotAuthenticated(cause: Error): void;
}

/**
 * Authenticates one connection. The first token is had before the session is offered, because the ticket for it may take
 * its time, and an offer that is not followed up shortens what is certain. The tokens then are all that is sent: a server
 * that insists on authentication hangs up on anything else, a ping included.
 */
export class Authentication {
  readonly #link: Link;
  readonly #owner: AuthenticationOwner;
  readonly #over = new AbortController();
  #exchange: SaslExchange | undefined;
  #wasLast = false;
  #awaitsAnswer = false;

  constructor(link: Link, owner: AuthenticationOwner) {
    this.#link = link;
    this.#owner = owner;
  }

  prepare(authenticator: Authenticator, server: Server): void {
    this.#continueWith(authenticator.begin(server, this.#over.signal), (exchange) => {
      this.#exchange = exchange;
      this.#owner.onProofReady();
    });
  }

  /** Sends the first token. The session must have been granted. */
  start(): void {
    if (this.#exchange !== undefined) this.#send(this.#exchange.firstToken);
  }

  onReply(errorNumber: number, body: ReplyBody): void {
    const exchange = this.#exchange;
    // A server that is not known to be the right one must not be able to have two tokens worked on at once: the library
    // would do so in two threads, on one context.
    if (exchange === undefined || !this.#awaitsAnswer) {
      return this.#owner.onNotAuthenticated(new Error('it answered before the next token was sent'));
    }
    this.#awaitsAnswer = false;
    if (errorNumber !== 0) {
      const text = `it refuses the authentication (error ${errorNumber}): ${exchange.explain('refused')}`;
      return this.#owner.onNotAuthenticated(new AuthenticationError('server', text));
    }
    if (this.#wasLast) return this.#owner.onAuthenticated();
    const challenge = body.readToken?.();
    if (challenge === undefined || challenge.length === 0) {
      const text = `it takes no part in the authentication: ${exchange.explain('ignored')}`;
      return this.#owner.onNotAuthenticated(new AuthenticationError('server', text));
    }
    this.#continueWith(exchange.respond(challenge), (response) => {
      this.#wasLast = response.isLast;
      this.#send(response.token);
    });
  }

  /** The connection has ended, or the exchange has. */
  end(): void {
    this.#over.abort();
  }

  #send(token: Uint8Array): void {
    this.#awaitsAnswer = true;
    this.#link.sendToken?.(token);
  }

  #continueWith<T>(promise: Promise<T>, next: (value: T) => void): void {
    const { signal } = this.#over;
    promise.then(
      (value) => {
        if (!signal.aborted) next(value);
      },
      (error: unknown) => {
        if (!signal.aborted) this.#owner.onNotAuthenticated(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }
}
