import { BehaviorSubject, type Observable, Subject } from 'rxjs';
import type { Clock } from '../../lock/clock.js';
import type { LockConfigurationError } from '../../lock/errors.js';
import { type ConnectionState, isUp } from '../connection-state.js';
import { SessionError } from '../errors.js';
import type { SessionSettings } from '../options.js';
import { withoutChroot } from '../paths.js';
import type { Outcome, Request, WatchEvent, Watcher } from '../requests.js';
import type { Session, SessionIdentity } from '../session.js';
import { Batch, type Call } from './call.js';
import { ensureChroot } from './chroot.js';
import { ClientWatches } from './client-watches.js';
import { CrowdedLists } from './crowded-lists.js';
import type { Connection } from './connection.js';
import type { Granted, KeeperListener } from './keeper-listener.js';
import type { Dialer, Proof } from './link.js';
import { malformed } from './malformed.js';
import type { Passage } from './proof-of-life.js';
import { SessionKeeper } from './session-keeper.js';
import { SessionLife } from './session-life.js';
import { watchFrames } from './watch-frames.js';

const CLOSE_WITHIN_MS = 1_000;

/**
 * The port over any kind of link: the face of the session keeper. It is the single writer of the connection state, and
 * the owner of what lives as long as a session: proof of life, watches, heartbeat.
 */
export class SessionClient implements Session, KeeperListener {
  readonly clock: Clock;
  readonly #settings: SessionSettings;
  readonly #keeper: SessionKeeper;
  readonly #life: SessionLife;
  readonly #watches = new ClientWatches(() => this.#connection?.conversation);
  readonly #lists = new CrowdedLists();
  readonly #states = new BehaviorSubject<ConnectionState>('connecting');
  readonly state$: Observable<ConnectionState> = this.#states.asObservable();
  readonly certaintyLowered$: Observable<void>;
  readonly #roundsInVain = new Subject<void>();
  /** Tells that every server was tried once, in vain; completes after `closed`. */
  readonly roundInVain$: Observable<void> = this.#roundsInVain.asObservable();
  readonly #whenClosed: Promise<void>;
  #markClosed!: () => void;
  #isClosing = false;
  #chrootIsThere = false;
  /** As the last connection knew it when it ended. */
  #stalledBeforeMs = 0;
  #hasBeenUp = false;
  #failure: LockConfigurationError | undefined;
  /** The connection over which requests may go now. */
  #connection: Connection | undefined;
  #identity: { readonly id: bigint; timeoutMs: number } | undefined;

  constructor(settings: SessionSettings, dialer: Dialer) {
    this.clock = settings.clock;
    this.#settings = settings;
    this.#whenClosed = new Promise((resolve) => (this.#markClosed = resolve));
    this.#life = new SessionLife(settings, (requests) => this.batch(requests));
    this.certaintyLowered$ = this.#life.lowered$;
    this.#keeper = new SessionKeeper(settings, dialer, this);
    this.#keeper.start();
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

  /** Why the session closed by itself. */
  get failure(): LockConfigurationError | undefined {
    return this.#failure;
  }

  get heartbeatRefusal(): SessionError | undefined {
    return this.#life.refusal;
  }

  get lastProofAt(): number | undefined {
    return this.#life.lastProofAt;
  }

  get stalledMs(): number {
    return this.#connection?.stalledMs(this.#life.lastProofAt ?? -Infinity) ?? this.#stalledBeforeMs;
  }

  describeFailures(): string {
    return this.#keeper.describeFailures();
  }

  certainUntil(): number {
    return this.#life.certainUntil;
  }

  certainSince(): number {
    return this.#life.certainSince;
  }

  keepCertain(): () => void {
    return this.#life.keepCertain();
  }

  async proveLife(forMs = 0): Promise<void> {
    if (this.certainUntil() - this.clock.now() > forMs) return;
    if (this.#connection === undefined || this.#isClosing) throw this.#unconnected();
    await this.#life.prove(forMs);
  }

  batch<const R extends readonly Request[]>(requests: R): Promise<{ [I in keyof R]: Outcome<R[I]> }> {
    const batch = new Batch(requests);
    requests.forEach((request, index) => this.#send(batch.calls[index]!, request));
    return batch.promise as Promise<{ [I in keyof R]: Outcome<R[I]> }>;
  }

  flush(): Promise<void> | undefined {
    return this.#connection?.conversation.flush();
  }

  unwatch(path: string, watcher: Watcher): void {
    this.#watches.unwatch(path, watcher);
    this.#lists.unwatch(path, watcher);
  }

  close(withinMs = CLOSE_WITHIN_MS): Promise<void> {
    this.#beginClosing();
    this.#keeper.close(withinMs);
    return this.#whenClosed;
  }

  onUp(connection: Connection, granted: Granted, fresh: boolean): void {
    const { chroot } = this.#settings;
    if (fresh || this.#identity === undefined) this.#identity = { id: granted.id, timeoutMs: granted.timeoutMs };
    this.#identity.timeoutMs = granted.timeoutMs;
    this.#life.attached(connection, granted.timeoutMs, fresh);
    for (const frame of watchFrames(this.#watches.registry, connection.offer.lastZxid, chroot))
      connection.conversation.sendWatches(frame);
    if (fresh) this.#chrootIsThere = chroot === '';
    // Credentials that are refused are no session to build on: the answer to whatever goes behind them is waited for.
    if (this.#chrootIsThere && this.#settings.auth.length === 0) this.#announce(connection, granted);
    else void this.#announceWhenReady(connection, granted, this.#chrootIsThere ? '' : chroot);
  }

  onDown(cause: Error): void {
    this.#stalledBeforeMs = this.stalledMs;
    this.#connection = undefined;
    this.#life.down(new SessionError('CONNECTION_LOSS', 'The connection to ZooKeeper was lost', undefined, { cause }));
    if (isUp(this.state)) this.#become('suspended');
  }

  onRoundInVain(): void {
    this.#roundsInVain.next();
  }

  heldUntil(): number | undefined {
    return this.#life.heldUntil;
  }

  onOutOfTouch(): void {
    if (this.state === 'suspended' || this.state === 'connecting') this.#become('lost');
  }

  onSessionEnded(error: SessionError): void {
    this.#forgetSession(error);
    if (this.state !== 'connecting' && this.state !== 'lost') this.#become('lost');
  }

  onFailing(failure: LockConfigurationError): void {
    this.#failure = failure;
    this.#beginClosing();
    // Whoever holds something is told before the servers are: they give it to the next one at once.
    this.#identity = undefined;
    if (this.state !== 'connecting' && this.state !== 'lost') this.#become('lost');
  }

  onClosed(): void {
    this.#isClosing = true;
    this.#forgetSession(this.#unconnected());
    this.#become('closed');
    this.#states.complete();
    this.#roundsInVain.complete();
    this.#life.complete();
    this.#markClosed();
  }

  onEvent(event: WatchEvent): void {
    const { chroot } = this.#settings;
    this.#watches.registry.fire(chroot === '' ? event : { type: event.type, path: withoutChroot(chroot, event.path) });
  }

  onAnswered(call: Passage, answeredAt: number, proof: Proof): void {
    this.#life.answered(call, answeredAt, proof);
  }

  onHeard(sentAt: number, answeredAt: number): void {
    this.#life.heard(sentAt, answeredAt);
  }

  onOffered(handshakeSentAt: number): void {
    this.#life.offered(handshakeSentAt);
  }

  onWatchSet(call: Call, found: boolean): void {
    this.#watches.set(call, found);
  }

  onWatchNotSet(call: Call): void {
    this.#watches.notSet(call);
  }

  async #announceWhenReady(connection: Connection, granted: Granted, chroot: string): Promise<void> {
    const ready = await ensureChroot(connection, chroot);
    // It may have ended in the same turn in which the answer came.
    if (!connection.isAttached) return;
    if (ready === true) this.#chrootIsThere = true;
    if (ready === true) this.#announce(connection, granted);
    else if (ready !== false) this.#keeper.fail(ready);
  }

  #announce(connection: Connection, granted: Granted): void {
    if (this.#isClosing) return;
    this.#connection = connection;
    this.#life.up(granted.id);
    this.#become(this.#hasBeenUp ? 'reconnected' : 'connected');
    this.#hasBeenUp = true;
  }

  /** From now on the servers may end the session at any moment. */
  #beginClosing(): void {
    this.#isClosing = true;
    this.#life.end(this.#unconnected());
  }

  #send(call: Call, request: Request): void {
    if (request.op === 'list') this.#lists.send(call, request, (next) => this.#sendNow(next, request));
    else this.#sendNow(call, request);
  }

  #sendNow(call: Call, request: Request): void {
    const refusal = this.#refusal(request);
    if (refusal === undefined && this.#connection !== undefined) this.#connection.conversation.send(call);
    else call.settle(refusal ?? this.#unconnected());
  }

  #refusal(request: Request): SessionError | undefined {
    if (this.#connection === undefined || this.#isClosing) return this.#unconnected();
    return malformed(request, this.#settings.chroot);
  }

  #unconnected(): SessionError {
    if (!this.#isClosing) {
      return new SessionError(
        'NOT_CONNECTED',
        `There is no connection to ZooKeeper now (${this.state}); nothing was sent`,
      );
    }
    return new SessionError('CLOSED', 'The ZooKeeper session was closed', undefined, { cause: this.#failure });
  }

  #forgetSession(error: SessionError): void {
    this.#connection = undefined;
    this.#identity = undefined;
    this.#life.end(error);
    this.#watches.registry.tellLost();
  }

  #become(state: ConnectionState): void {
    this.#states.next(state);
  }
}
