import type { Clock, Timer } from '../../lock/clock.js';
import type { SessionError } from '../errors.js';
import type { WatchEvent } from '../requests.js';
import { Authentication, type AuthenticationOwner, type Authenticator } from './authentication.js';
import { type Call, connectionLoss } from './call.js';
import { Conversation, type Traffic } from './conversation.js';
import type {
  Dialer,
  DialOptions,
  Handshake,
  HandshakeReply,
  Link,
  LinkListener,
  LinkStage,
  ReplyBody,
  Server,
} from './link.js';
import { Liveness } from './liveness.js';

/** How a connection ended, as far as the next attempt needs to know it. */
export type Ending =
  /** The server could not be reached. */
  | 'unreachable'
  /** The server neither answered nor refused in the time that the attempt had. */
  | 'silent'
  /**
   * The server hung up on the handshake: it does not serve, or this client has seen a newer state than the server has.
   */
  | 'refused'
  /** The server and this client did not agree on who this client is. */
  | 'unauthenticated'
  /** The connection had been attached to the session. */
  | 'dropped';

/** Hears what becomes of a connection. */
export interface ConnectionOwner {
  /** The handshake is about to leave. An owner without certainty to lose need not hear of it. */
  onOffering?(connection: Connection): void;
  /**
   * The server granted the offered session, or a new one. Nothing may be sent before `onAttached`, which follows at once
   * where there is nothing to prove.
   */
  onGranted?(connection: Connection, reply: HandshakeReply): void;
  /** The session that was granted can be used. */
  onAttached(connection: Connection, reply: HandshakeReply): void;
  /** The server says that the offered session has ended. */
  onExpired(connection: Connection): void;
  onEnded(connection: Connection, ending: Ending, cause: Error): void;
  /** The server refuses the credentials that the owner had sent. */
  onAuthFailed?(errorNumber: number): void;
}

type Phase = 'dialing' | 'preparing' | 'handshaking' | 'authenticating' | 'attached' | 'ended';
const ENDING_IN: Readonly<Record<Phase, Ending>> = {
  dialing: 'unreachable',
  preparing: 'unreachable',
  handshaking: 'refused',
  authenticating: 'unauthenticated',
  attached: 'dropped',
  ended: 'dropped',
};

const MISSING_IN: Readonly<Record<LinkStage, string>> = {
  preparing: 'the function of the option tls did not answer',
  resolving: 'its name was not resolved',
  connecting: 'it could not be reached',
  securing: 'connected, no TLS handshake',
  asking: 'connected, no word whether it serves',
};

export interface ConnectionContext extends DialOptions {
  readonly clock: Clock;
  readonly dialer: Dialer;
  /** A prefix of every path at the server. */
  readonly chroot: string;
  readonly owner: ConnectionOwner;
  /** Undefined where nobody uses the session. */
  readonly traffic: Traffic | undefined;
  /** Undefined where this client proves nothing, or only by credentials that are sent as they are. */
  readonly authenticator?: Authenticator | undefined;
}

/** One connection to one server: its handshake, its requests, its liveness and its end. An object is used once. */
export class Connection implements LinkListener, AuthenticationOwner {
  readonly #clock: Clock;
  readonly #owner: ConnectionOwner;
  readonly #traffic: Traffic | undefined;
  readonly #link: Link;
  readonly #authenticator: Authenticator | undefined;
  readonly #authentication: Authentication;
  #granted: HandshakeReply | undefined;
  readonly conversation: Conversation;
  #attemptTimer: Timer | undefined;
  #attemptEndsAt = Infinity;
  readonly #attemptMs: number;
  readonly #startedAt: number;
  #phase: Phase = 'dialing';
  #liveness: Liveness | undefined;
  #readAt = 0;
  /** When the handshake was sent. A new or re-attached session is known to the server from this instant on. */
  handshakeSentAt = 0;

  constructor(
    readonly server: Server,
    readonly offer: Handshake,
    attemptMs: number,
    { clock, dialer, chroot, owner, traffic, authenticator, asksFirst = false }: ConnectionContext,
  ) {
    this.#clock = clock;
    this.#owner = owner;
    this.#traffic = traffic;
    this.#startedAt = clock.now();
    this.#attemptMs = attemptMs;
    this.#wait(attemptMs);
    this.#link = dialer.dial(server, this, { asksFirst });
    this.#authenticator = authenticator;
    this.#authentication = new Authentication(this.#link, this);
    this.conversation = new Conversation(this.#link, {
      clock,
      chroot,
      traffic,
      onSent: (at) => this.#liveness?.sent(at),
      onBroken: (cause) => this.#end(cause),
      onAuthFailed: (errorNumber) => owner.onAuthFailed?.(errorNumber),
    });
  }

  get lastZxid(): bigint {
    return this.#link.lastZxid;
  }

  get isAttached(): boolean {
    return this.#phase === 'attached';
  }

  /** Whether the server has taken the session up, or made one. It then counts the session's time-out from there. */
  get wasGranted(): boolean {
    return this.#granted !== undefined;
  }

  get lastReadAt(): number {
    return this.#readAt;
  }

  /** For how long, at the least, the event loop stood still after `since`. */
  stalledMs(since: number): number {
    return this.#liveness?.stalledMs(since) ?? 0;
  }

  /** For how long this connection has been tried or used. */
  get ageMs(): number {
    return this.#clock.now() - this.#startedAt;
  }

  /** Shortens the wait for the answer to the handshake to this long; a wait that ends sooner stays as it is. */
  expectAnswerWithin(durationMs: number): void {
    if (this.#clock.now() + durationMs < this.#attemptEndsAt) this.#wait(durationMs);
  }

  /** What an attempt that is still under way is waiting for, for people; undefined once the attempt is over. */
  describeAttempt(): string | undefined {
    if (this.#phase === 'attached' || this.#phase === 'ended') return undefined;
    const isOffered = this.#phase === 'handshaking' || this.#phase === 'authenticating';
    return this.#silence(this.#clock.now() - (isOffered ? this.handshakeSentAt : this.#startedAt));
  }

  /** Ends the connection as if the server had ended it: the owner looks for another server. */
  giveUp(cause: Error): void {
    this.#end(cause);
  }

  /** Ends the connection without telling the owner. Outstanding calls settle with `error`. */
  destroy(error: (call: Call) => SessionError): void {
    this.#finish();
    this.conversation.settleAll(error);
  }

  onServing(): void {
    // The offer gets a time of its own: the session may already have been shortened by it, so an offer that is
    // given up because the question before it took long is a costly one.
    this.#wait(this.#attemptMs);
  }

  onOpen(): void {
    if (this.#authenticator === undefined) return this.#offerSession();
    this.#phase = 'preparing';
    this.#wait(this.#attemptMs);
    this.#authentication.prepare(this.#authenticator, this.server);
  }

  onProofReady(): void {
    this.#wait(this.#attemptMs);
    this.#offerSession();
  }

  #offerSession(): void {
    this.#phase = 'handshaking';
    this.handshakeSentAt = this.#clock.now();
    this.#owner.onOffering?.(this);
    this.#link.handshake(this.offer);
  }

  onHandshake(reply: HandshakeReply): void {
    if (reply.timeoutMs <= 0) {
      // Only an offered session can have expired.
      if (this.offer.sessionId === 0n) return this.#end(new Error('it granted no session'), 'refused');
      this.#finish();
      this.#owner.onExpired(this);
      return;
    }
    if (this.offer.sessionId !== 0n && reply.sessionId !== this.offer.sessionId) {
      return this.#end(new Error('it answered with another session than the one that was offered'), 'refused');
    }
    this.#granted = reply;
    this.#owner.onGranted?.(this, reply);
    if (this.#authenticator === undefined) return this.onAuthenticated();
    this.#phase = 'authenticating';
    this.#wait(this.#attemptMs);
    this.#authentication.start();
  }

  onAuthenticated(): void {
    if (this.#granted === undefined) return;
    this.#attemptTimer?.cancel();
    this.#phase = 'attached';
    this.#owner.onAttached(this, this.#granted);
  }

  onNotAuthenticated(cause: Error): void {
    this.#end(cause, 'unauthenticated');
  }

  /** Starts the pings that keep the connection alive, and the watch for its silence. */
  startLiveness(timeoutMs: number, tickMs: number, heldUntil: () => number | undefined = () => undefined): void {
    this.#liveness = new Liveness(this.#clock, { timeoutMs, tickMs }, this.#readAt, {
      heldUntil,
      sendPing: () => this.conversation.sendApart({ op: 'ping' }),
      onSilence: (silentMs) => this.#end(new Error(`nothing was heard from it for ${Math.round(silentMs)} ms`)),
    });
  }

  onActivity(): void {
    this.#readAt = this.#clock.now();
    this.#liveness?.heard(this.#readAt);
  }

  onReply(xid: number, errorNumber: number, body: ReplyBody): void {
    if (this.#phase === 'authenticating') this.#authentication.onReply(errorNumber, body);
    else this.conversation.onReply(xid, errorNumber, body, this.#readAt);
  }

  onEvent(event: WatchEvent): void {
    this.#traffic?.onEvent(event);
  }

  onClosed(cause: Error): void {
    this.#end(cause);
  }

  #end(cause: Error, ending: Ending = ENDING_IN[this.#phase]): void {
    if (this.#phase === 'ended') return;
    this.#finish();
    this.conversation.settleAll((call) => connectionLoss(call, cause));
    this.#owner.onEnded(this, ending, cause);
  }

  #wait(durationMs: number): void {
    this.#attemptTimer?.cancel();
    this.#attemptEndsAt = this.#clock.now() + durationMs;
    this.#attemptTimer = this.#clock.setTimer(durationMs, () => {
      // After a stall of the event loop the answer may have arrived unread: the sockets are read before this timer
      // fires.
      this.#attemptTimer = this.#clock.setTimer(0, () => this.#end(new Error(this.#silence(this.ageMs)), 'silent'));
    });
  }

  #silence(durationMs: number): string {
    return `${this.#missing()} within ${Math.round(durationMs)} ms`;
  }

  #missing(): string {
    if (this.#phase === 'dialing') return MISSING_IN[this.#link.stage ?? 'connecting'];
    if (this.#phase === 'preparing') return 'connected, no proof of who this client is (does the KDC answer?)';
    return this.#phase === 'authenticating' ? 'connected, no end of the authentication' : 'connected, no answer';
  }

  #finish(): void {
    this.#phase = 'ended';
    this.#authentication.end();
    this.conversation.end();
    this.#attemptTimer?.cancel();
    this.#liveness?.stop();
    this.#link.destroy();
  }
}
