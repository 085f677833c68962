import type { Timer } from '../../lock/clock.js';
import { LockConfigurationError } from '../../lock/errors.js';
import { MIN_SESSION_TICKS, uselessTimeout } from '../certainty.js';
import { AUTHENTICATION_REQUIRED, serverError, SessionError } from '../errors.js';
import type { SessionSettings } from '../options.js';
import { AbandonedSession, closed, closeSession, type Granted } from './abandoned-session.js';
import { AuthenticationError } from './authentication.js';
import { Connection, type ConnectionOwner, type Ending } from './connection.js';
import type { KeptSession } from './kept-session.js';
import type { Dialer, Handshake, HandshakeReply, Server } from './link.js';
import { OutOfTouch } from './out-of-touch.js';
import { RefusingServers } from './refusing-servers.js';
import { ServerList } from './server-list.js';

const NO_PASSWORD = new Uint8Array(16);
const FAIL_WITHIN_MS = 1_000;

/**
 * Gets a session and keeps it. This is the only place that decides which server to try, what to offer it, and when a
 * session is over. The old session is always offered first. A new one follows when a server says "expired", or when
 * servers that do serve keep refusing the old one because it has seen more than they have: their data was wiped.
 */
export class SessionKeeper implements ConnectionOwner {
  readonly #settings: SessionSettings;
  readonly #dialer: Dialer;
  readonly #session: KeptSession;
  readonly #servers: ServerList;
  readonly #outOfTouch: OutOfTouch;
  #state: 'trying' | 'attached' | 'closing' | 'closed' = 'trying';
  #connection: Connection | undefined;
  #granted: Granted | undefined;
  #hadSession = false;
  #lastZxid = 0n;
  #pause: Timer | undefined;
  #closeTimer: Timer | undefined;
  #abandoned: AbandonedSession | undefined;
  /** A session that was given up while no server let this client in, not even to end it. */
  #unended: Granted | undefined;
  readonly #refusing: RefusingServers;

  constructor(settings: SessionSettings, dialer: Dialer, session: KeptSession) {
    this.#settings = settings;
    this.#dialer = dialer;
    this.#session = session;
    this.#servers = new ServerList(settings.servers, settings.random);
    this.#refusing = new RefusingServers(settings.servers);
    this.#outOfTouch = new OutOfTouch(settings.clock, settings.serverTickMs, () => session.onOutOfTouch());
  }

  start(): void {
    // A user with another way (a local lock) waits for the first session no longer than for a session that was lost.
    this.#outOfTouch.after(this.#settings.sessionTimeoutMs);
    this.#servers.restart();
    this.#tryNext();
  }

  describeFailures(): string {
    const reason = this.#connection?.describeAttempt();
    if (this.#connection === undefined || reason === undefined) return this.#servers.describeFailures();
    return this.#servers.describeFailures({ server: this.#connection.server, reason });
  }

  /** Ends the session at the servers if that can be done within the time. `onClosed` tells when it is over. */
  close(withinMs: number): void {
    if (this.#state === 'closing' || this.#state === 'closed') return;
    const attached = this.#state === 'attached';
    this.#state = 'closing';
    if (this.#granted === undefined) {
      this.#finish();
      return;
    }
    this.#closeTimer = this.#settings.clock.setTimer(withinMs, () => this.#finish());
    if (attached) void this.#closeSession();
  }

  /** Gives up for good. The session's nodes at the servers go with it. */
  fail(failure: LockConfigurationError): void {
    this.#session.onFailing(failure);
    this.close(FAIL_WITHIN_MS);
  }

  onOffering(connection: Connection): void {
    // A new session has no certainty to lose, so its server may take its time.
    if (connection.offer.sessionId === 0n) return;
    this.#session.onOffered(connection.handshakeSentAt);
    connection.expectAnswerWithin(this.#servers.offerMs(this.#heldMs()));
  }

  onGranted(connection: Connection, reply: HandshakeReply): void {
    if (this.#outOfTouch.isProbing) return;
    const isFresh = connection.offer.sessionId === 0n;
    this.#granted = { id: reply.sessionId, password: reply.password, timeoutMs: reply.timeoutMs };
    // A session that is being closed is certain of nothing any more.
    if (this.#state !== 'closing') this.#session.onGranted(connection, this.#granted, isFresh);
  }

  onAttached(connection: Connection, reply: HandshakeReply): void {
    // A connection that opened a session on the side is not ours: it only shows that the server serves.
    if (this.#outOfTouch.isProbing) {
      const again = (): void => this.#tryNext(connection.server);
      this.#outOfTouch.opened(connection, reply.timeoutMs, () => this.#connection === connection && again());
      return;
    }
    this.#hadSession = true;
    const { serverTickMs } = this.#settings;
    connection.startLiveness(reply.timeoutMs, serverTickMs, () => this.#session.heldUntil);
    if (this.#state === 'closing') {
      void this.#closeSession();
      return;
    }
    this.#state = 'attached';
    const useless = uselessTimeout(reply.timeoutMs, serverTickMs);
    if (useless !== undefined) {
      this.fail(useless);
      return;
    }
    this.#outOfTouch.end();
    this.#servers.restart(connection.server);
    this.#refusing.forget();
    if (this.#unended !== undefined) this.#endAside(this.#unended);
    this.#unended = undefined;
    for (const auth of this.#settings.auth) connection.conversation.sendApart({ op: 'auth', ...auth });
    this.#session.onUp(connection);
  }

  onExpired(connection: Connection): void {
    this.#endSession('The servers ended the session: they heard nothing from it for a whole session time-out');
    if (this.#state === 'closing') this.#finish();
    else this.#tryNext(connection.server);
  }

  onEnded(connection: Connection, ending: Ending, cause: Error): void {
    this.#servers.failed(connection.server, cause, this.#settings.clock.now());
    if (ending === 'silent') this.#servers.wasSilent(connection.server, connection.ageMs);
    // A probe that drops has done its work: the closing of its session goes on from there.
    if (this.#state === 'closed' || (ending === 'dropped' && this.#outOfTouch.isProbe(connection))) return;
    this.#connection = undefined;
    // Nothing is at stake before the first session: a mistake that no other attempt can change is told at once.
    if (cause instanceof LockConfigurationError && !this.#hadSession) return this.fail(cause);
    // The link itself has ended the session, because of what its servers are.
    if (cause instanceof LockConfigurationError && ending === 'dropped') return this.#failUnheard(cause);
    if (ending !== 'dropped' && connection.wasGranted) this.#wasNotLetIn();
    if (cause instanceof AuthenticationError && this.#isHopeless(cause, connection.server))
      this.#failUnheard(new LockConfigurationError(`auth: ${this.#servers.describeFailures()}`, undefined, { cause }));
    else if (ending === 'dropped') this.#reconnect(connection, cause);
    else this.#retry(connection, ending);
  }

  onAuthFailed(errorNumber: number): void {
    const cause = serverError(errorNumber, 'auth', undefined);
    if (errorNumber !== AUTHENTICATION_REQUIRED) {
      this.fail(new LockConfigurationError('auth: the servers refuse these credentials', undefined, { cause }));
      return;
    }
    const text =
      "auth: the servers let in only who authenticates, and not in the way in which this client does. { scheme: 'kerberos' } " +
      'is SASL; their setting enforce.auth.schemes names the ways';
    this.#failUnheard(new LockConfigurationError(text, undefined, { cause }));
  }

  /**
   * A server took the session up and then did not let this client in. Each such attempt makes the session live for
   * another S, and with it the nodes of locks that were lost meanwhile: nobody else would get them.
   */
  #wasNotLetIn(): void {
    if (this.#state !== 'trying' || !this.#outOfTouch.isOut || this.#outOfTouch.isProbing) return;
    this.#unended = this.#granted;
    this.#endSession('The servers did not accept who this client is for a whole session time-out');
  }

  #isHopeless(error: AuthenticationError, server: Server): boolean {
    // A client that was up before goes on trying all the same: a ticket that ran out is renewed late, or a server is
    // repaired.
    return this.#refusing.add(server, error) && !this.#hadSession && this.#state === 'trying';
  }

  /** Gives up for good where no server would hear that the session is to be closed. It is left to its time-out. */
  #failUnheard(failure: LockConfigurationError): void {
    this.#granted = undefined;
    this.fail(failure);
  }

  #reconnect(connection: Connection, cause: Error): void {
    this.#adoptZxid(connection);
    if (this.#state === 'attached') {
      this.#state = 'trying';
      this.#session.onDown(cause);
    }
    const { clock } = this.#settings;
    const silentMs = clock.now() - connection.lastReadAt;
    this.#outOfTouch.after(this.#timeoutMs() - silentMs);
    this.#pause = clock.setTimer(this.#servers.firstPauseMs(clock.now() - connection.handshakeSentAt), () =>
      this.#tryNext(),
    );
  }

  #adoptZxid({ lastZxid, conversation }: Connection): void {
    // Watches are set again from this transaction on, so the answer to one frame of them must not move it while others
    // are unanswered: events of their watches since the last connection would never be told. Nothing else was answered
    // on such a connection, so keeping the older transaction takes back nothing that a caller has seen.
    if (lastZxid > this.#lastZxid && !conversation.isSettingWatches) this.#lastZxid = lastZxid;
  }

  #retry({ server }: Connection, ending: Ending): void {
    // Only a refusal, and only after S without a link, raises the question whether the session itself is the reason.
    const suspicious = this.#outOfTouch.isOut && this.#granted !== undefined && ending === 'refused';
    if (!suspicious || this.#outOfTouch.isProbing) {
      this.#outOfTouch.forgetRefusals();
      this.#tryNext();
      return;
    }
    if (this.#outOfTouch.refused()) this.#abandon();
    this.#tryNext(server);
  }

  #abandon(): void {
    if (this.#granted === undefined) return;
    this.#endAside(this.#granted);
    this.#endSession(
      'The servers refuse the session: they know less than it has seen. Was their data wiped or restored?',
    );
  }

  #endAside(granted: Granted): void {
    const attemptMs = this.#servers.firstAttemptMs(granted.timeoutMs);
    this.#abandoned?.stop();
    this.#abandoned = new AbandonedSession(granted, this.#settings, this.#dialer, attemptMs);
  }

  #tryNext(server: Server | undefined = this.#servers.next()): void {
    if (this.#state === 'closed') return;
    const { clock } = this.#settings;
    if (server === undefined) {
      // To be quick for the sake of what is held would be of no use where only somebody else can help.
      const pauseMs = this.#servers.endRound(this.#refusing.areAll ? 0 : this.#heldMs());
      this.#refusing.forget();
      this.#session.onRoundInVain();
      this.#pause = clock.setTimer(pauseMs, () => this.#tryNext());
      return;
    }
    const { chroot, authenticator } = this.#settings;
    // Traffic on a probe belongs to another session.
    const traffic = this.#outOfTouch.isProbing ? undefined : this.#session;
    const heldMs = this.#heldMs();
    // Offering the session in vain leaves only two ticks of certainty. While more is left, the server is asked first
    // whether it serves, because one without a quorum hangs up on the offer. A server that has been wordless for longer
    // than a tick answers this question to nobody, so it is not asked.
    const { serverTickMs } = this.#settings;
    const asksFirst =
      heldMs > MIN_SESSION_TICKS * serverTickMs && this.#servers.wordlessMs(server, clock.now()) <= serverTickMs;
    const context = { clock, chroot, dialer: this.#dialer, owner: this, traffic, authenticator, asksFirst };
    const attemptMs = this.#servers.attemptMs(server, this.#timeoutMs(), heldMs);
    this.#connection = new Connection(server, this.#offer(), attemptMs, context);
  }

  #offer(): Handshake {
    const timeoutMs = this.#timeoutMs();
    if (this.#granted === undefined || this.#outOfTouch.isProbing) {
      // A new session sees at least its own creation, so it may start on any server.
      return { sessionId: 0n, password: NO_PASSWORD, lastZxid: 0n, timeoutMs };
    }
    return { sessionId: this.#granted.id, password: this.#granted.password, lastZxid: this.#lastZxid, timeoutMs };
  }

  /** How much certainty of held locks is left; zero or less where nothing is held. */
  #heldMs(): number {
    return (this.#session.heldUntil ?? -Infinity) - this.#settings.clock.now();
  }

  #timeoutMs(): number {
    return this.#granted?.timeoutMs ?? this.#settings.sessionTimeoutMs;
  }

  #endSession(text: string): void {
    this.#outOfTouch.end();
    this.#granted = undefined;
    this.#lastZxid = 0n;
    this.#connection = undefined;
    this.#session.onSessionEnded(new SessionError('SESSION_EXPIRED', text));
  }

  async #closeSession(): Promise<void> {
    const connection = this.#connection;
    // Where no answer came, the next connection closes the session, if there is one in time.
    if (connection === undefined || (await closeSession(connection))) this.#finish();
  }

  #finish(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    for (const timer of [this.#pause, this.#closeTimer]) timer?.cancel();
    this.#outOfTouch.end();
    this.#abandoned?.stop();
    this.#connection?.destroy(closed);
    this.#connection = undefined;
    this.#session.onClosed();
  }
}
