import { BehaviorSubject, type Observable, Subject } from 'rxjs';
import { LockConfigurationError } from '../../lock/errors.js';
import { type ConnectionState, isUp } from '../connection-state.js';
import { describeDenial, failedWith, isAboutTheLink, SessionError } from '../errors.js';
import type { SessionSettings } from '../options.js';
import { ancestry, withoutChroot } from '../paths.js';
import { create, exists, type WatchEvent } from '../requests.js';
import type { SessionIdentity } from '../session.js';
import type { Granted } from './abandoned-session.js';
import { type Call, sendTogether } from './call.js';
import type { Connection } from './connection.js';
import type { Traffic } from './conversation.js';
import type { Proof } from './link.js';
import type { Passage } from './proof-of-life.js';
import type { SessionLife } from './session-life.js';
import { ClientWatches, watchFrames } from './watch-registry.js';

/**
 * Turns the keeper's news into what users of a session see. It is the only writer of the connection state, and it owns
 * what lives as long as a session: its identity, its watches, and the connection that requests may use.
 */
export class KeptSession implements Traffic {
  readonly watches = new ClientWatches(() => this.#connection?.conversation);
  readonly #settings: SessionSettings;
  readonly #life: SessionLife;
  readonly #fail: (failure: LockConfigurationError) => void;
  readonly #states = new BehaviorSubject<ConnectionState>('connecting');
  readonly state$: Observable<ConnectionState> = this.#states.asObservable();
  readonly #roundsInVain = new Subject<void>();
  readonly roundInVain$: Observable<void> = this.#roundsInVain.asObservable();
  readonly whenClosed: Promise<void>;
  #markClosed!: () => void;
  #isClosing = false;
  #chrootIsThere = false;
  /** How long the event loop had stalled, as the last connection knew when it ended. */
  #stalledBeforeMs = 0;
  #hasBeenUp = false;
  #failure: LockConfigurationError | undefined;
  #connection: Connection | undefined;
  #identity: { readonly id: bigint; timeoutMs: number } | undefined;

  /** @param fail tells the keeper that the client must give up for good */
  constructor(settings: SessionSettings, life: SessionLife, fail: (failure: LockConfigurationError) => void) {
    this.#settings = settings;
    this.#life = life;
    this.#fail = fail;
    this.whenClosed = new Promise((resolve) => (this.#markClosed = resolve));
  }

  get state(): ConnectionState {
    return this.#states.value;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get identity(): SessionIdentity | undefined {
    return this.#identity;
  }

  get failure(): LockConfigurationError | undefined {
    return this.#failure;
  }

  /** The connection that requests may use now. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  get stalledMs(): number {
    return this.#connection?.stalledMs(this.#life.lastProofAt ?? -Infinity) ?? this.#stalledBeforeMs;
  }

  beginClosing(): void {
    // The servers may end the session at any moment from now on, so nothing in it is certain any more.
    this.#isClosing = true;
    this.#life.end(this.unconnected());
  }

  /** The error for a request that cannot be sent. */
  unconnected(): SessionError {
    if (this.#isClosing) {
      return new SessionError('CLOSED', 'The ZooKeeper session was closed', undefined, { cause: this.#failure });
    }
    const text = `There is no connection to ZooKeeper now (${this.state}); nothing was sent`;
    return new SessionError('NOT_CONNECTED', text);
  }

  /** A server has taken up the session, or made one. `fresh` tells that it is new; all of an earlier session is gone. */
  onGranted(connection: Connection, granted: Granted, fresh: boolean): void {
    // A re-attached session keeps its identity object: users compare it to learn whether it is the same session.
    if (fresh || this.#identity === undefined) this.#identity = { id: granted.id, timeoutMs: granted.timeoutMs };
    this.#identity.timeoutMs = granted.timeoutMs;
    this.#life.attached(connection, granted.timeoutMs, fresh);
    if (fresh) this.#chrootIsThere = this.#settings.chroot === '';
  }

  /** A connection can be used for the session that was granted to it. */
  onUp(connection: Connection): void {
    const { chroot } = this.#settings;
    for (const frame of watchFrames(this.watches.registry, connection.offer.lastZxid, chroot))
      connection.conversation.sendApart(frame);
    // With credentials, an answer has to come first: a session whose credentials are refused must not be announced as
    // up.
    if (this.#chrootIsThere && this.#settings.auth.length === 0) this.#announce(connection);
    else void this.#announceWhenReady(connection, this.#chrootIsThere ? '' : chroot);
  }

  onDown(cause: Error): void {
    this.#stalledBeforeMs = this.stalledMs;
    this.#connection = undefined;
    this.#life.down(new SessionError('CONNECTION_LOSS', 'The connection to ZooKeeper was lost', undefined, { cause }));
    if (isUp(this.state)) this.#become('suspended');
  }

  /** Every server was tried once, and none took the session up. */
  onRoundInVain(): void {
    this.#roundsInVain.next();
  }

  /** The instant until which held locks are certain; undefined when nothing is held. */
  get heldUntil(): number | undefined {
    return this.#life.heldUntil;
  }

  /** The link has been down for S, so the servers may have ended the session. */
  onOutOfTouch(): void {
    if (this.state === 'suspended' || this.state === 'connecting') this.#become('lost');
  }

  /** The session is over. Another one will follow. */
  onSessionEnded(error: SessionError): void {
    this.#forgetSession(error);
    if (this.state !== 'connecting' && this.state !== 'lost') this.#become('lost');
  }

  /** The client gives up for good. The session is being closed. */
  onFailing(failure: LockConfigurationError): void {
    this.#failure ??= failure;
    this.beginClosing();
    // Holders must hear of the loss before the servers do, because the servers give the locks to the next contender at
    // once.
    this.#identity = undefined;
    if (this.state !== 'connecting' && this.state !== 'lost') this.#become('lost');
  }

  /** The client is closed, whether that was asked for or not. */
  onClosed(): void {
    this.#isClosing = true;
    this.#forgetSession(this.unconnected());
    this.#become('closed');
    this.#states.complete();
    this.#roundsInVain.complete();
    this.#life.complete();
    this.#markClosed();
  }

  onEvent(event: WatchEvent): void {
    const { chroot } = this.#settings;
    this.watches.registry.fire(chroot === '' ? event : { type: event.type, path: withoutChroot(chroot, event.path) });
  }

  onAnswered(call: Passage, answeredAt: number, proof: Proof): void {
    this.#life.answered(call, answeredAt, proof);
  }

  /** The session is being offered to a server, and that server may shorten it. */
  onOffered(handshakeSentAt: number): void {
    this.#life.offered(handshakeSentAt);
  }

  onWatchSet(call: Call, found: boolean): void {
    this.watches.set(call, found);
  }

  onWatchNotSet(call: Call): void {
    this.watches.notSet(call);
  }

  async #announceWhenReady(connection: Connection, chroot: string): Promise<void> {
    const ready = await ensureChroot(connection, chroot);
    // The connection may have ended in the same turn in which the answer came.
    if (!connection.isAttached) return;
    if (ready === true) this.#chrootIsThere = true;
    if (ready === true) this.#announce(connection);
    else if (ready !== false) this.#fail(ready);
  }

  #announce(connection: Connection): void {
    if (this.#isClosing || this.#identity === undefined) return;
    this.#connection = connection;
    this.#life.up(this.#identity.id);
    this.#become(this.#hasBeenUp ? 'reconnected' : 'connected');
    this.#hasBeenUp = true;
  }

  #forgetSession(error: SessionError): void {
    this.#connection = undefined;
    this.#identity = undefined;
    this.#life.end(error);
    this.watches.registry.tellLost();
  }

  #become(state: ConnectionState): void {
    this.#states.next(state);
  }
}

/**
 * Makes the chroot and its parents where they are missing. Where there is no chroot ('') it only waits for an answer.
 * @returns true when the chroot is there, an error when it never will be, false when the connection went away before
 * that was known
 */
export async function ensureChroot(connection: Connection, chroot: string): Promise<boolean | LockConfigurationError> {
  const parents = ancestry(chroot).map((path) => create(path, 'persistent'));
  const requests = [...parents, exists(chroot === '' ? '/' : chroot)];
  const outcomes = await sendTogether(requests, (call) => connection.conversation.send(call, ''));
  const found = outcomes.at(-1);
  if (found instanceof SessionError && isAboutTheLink(found)) {
    // This server may only be too busy: another connection asks again.
    connection.giveUp(found);
    return false;
  }
  if (found !== undefined && !(found instanceof SessionError)) return true;
  // From 3.8.4 and 3.9.2 on, servers answer this only to those who may read the node. The root of all need not be read.
  const isDenied = failedWith(found, 'NO_AUTH');
  if (isDenied && chroot === '') return true;
  // A create that failed because the node exists is a success here; the first other failure says why the chroot is
  // missing.
  const cause = outcomes.find((outcome) => outcome instanceof Error && !failedWith(outcome, 'NODE_EXISTS'));
  const text = isDenied
    ? `connect: ${describeDenial(found, `the chroot ${chroot}`)}`
    : `connect: the chroot ${chroot} does not exist, and this client could not make it. Create it with its parents, or allow the ` +
      'user of the option auth to create nodes there';
  // The message of the error leaves the process and must not name a path. Given as the key, the path is in the details
  // alone.
  return new LockConfigurationError(text, chroot, { cause });
}
