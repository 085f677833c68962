import type { Observable } from 'rxjs';
import type { Clock } from '../../lock/clock.js';
import type { LockConfigurationError } from '../../lock/errors.js';
import type { ConnectionState } from '../connection-state.js';
import { SessionError } from '../errors.js';
import type { SessionSettings } from '../options.js';
import { checkPath } from '../paths.js';
import { isOpen, type MultiPart, type Outcome, type Request, type Watcher } from '../requests.js';
import type { Session, SessionIdentity } from '../session.js';
import { type Call, sendTogether } from './call.js';
import { CrowdedLists } from './crowded-lists.js';
import { KeptSession } from './kept-session.js';
import type { Dialer } from './link.js';
import { SessionKeeper } from './session-keeper.js';
import { SessionLife } from './session-life.js';

const CLOSE_WITHIN_MS = 1_000;

/** The port over any kind of link. It is the face of the session that the keeper keeps, and sends requests into it. */
export class SessionClient implements Session {
  readonly hasMultis: boolean;
  readonly clock: Clock;
  readonly #chroot: string;
  readonly #life: SessionLife;
  readonly #kept: KeptSession;
  readonly #keeper: SessionKeeper;
  readonly #lists = new CrowdedLists();
  readonly state$: Observable<ConnectionState>;
  readonly certaintyLowered$: Observable<void>;
  /** Emits when every server was tried once, in vain. Completes after `closed`. */
  readonly roundInVain$: Observable<void>;

  constructor(settings: SessionSettings, dialer: Dialer) {
    this.hasMultis = settings.isPlain !== true;
    this.clock = settings.clock;
    this.#chroot = settings.chroot;
    this.#life = new SessionLife(settings, (requests) => this.batch(requests));
    this.#kept = new KeptSession(settings, this.#life, (failure) => this.#keeper.fail(failure));
    this.state$ = this.#kept.state$;
    this.certaintyLowered$ = this.#life.lowered$;
    this.roundInVain$ = this.#kept.roundInVain$;
    this.#keeper = new SessionKeeper(settings, dialer, this.#kept);
    this.#keeper.start();
  }

  get state(): ConnectionState {
    return this.#kept.state;
  }

  get isClosing(): boolean {
    return this.#kept.isClosing;
  }

  get identity(): SessionIdentity | undefined {
    return this.#kept.identity;
  }

  /** Why the session closed by itself. */
  get failure(): LockConfigurationError | undefined {
    return this.#kept.failure;
  }

  get heartbeatRefusal(): SessionError | undefined {
    return this.#life.refusal;
  }

  get lastProofAt(): number | undefined {
    return this.#life.lastProofAt;
  }

  get stalledMs(): number {
    return this.#kept.stalledMs;
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
    if (this.#kept.connection === undefined || this.isClosing) throw this.#kept.unconnected();
    await this.#life.prove(forMs);
  }

  batch<const R extends readonly Request[]>(requests: R): Promise<{ [I in keyof R]: Outcome<R[I]> }> {
    const outcomes = sendTogether(requests, (call, request) => this.#send(call, request));
    return outcomes as Promise<{ [I in keyof R]: Outcome<R[I]> }>;
  }

  flush(): Promise<void> | undefined {
    return this.#kept.connection?.conversation.flush();
  }

  unwatch(path: string, watcher: Watcher): void {
    this.#kept.watches.unwatch(path, watcher);
    this.#lists.unwatch(path, watcher);
  }

  close(withinMs = CLOSE_WITHIN_MS): Promise<void> {
    this.#kept.beginClosing();
    this.#keeper.close(withinMs);
    return this.#kept.whenClosed;
  }

  #send(call: Call, request: Request): void {
    if (request.op === 'list') this.#lists.send(call, request, (next) => this.#sendNow(next, request));
    else this.#sendNow(call, request);
  }

  #sendNow(call: Call, request: Request): void {
    const { connection } = this.#kept;
    if (connection === undefined || this.isClosing) return call.settle(this.#kept.unconnected());
    const refusal = (this.hasMultis ? undefined : notPlain(request)) ?? malformed(request, this.#chroot);
    if (refusal === undefined) connection.conversation.send(call);
    else call.settle(refusal);
  }
}

/** Refuses, before any I/O, what a client of plain requests could only do in part. */
function notPlain(request: Request): SessionError | undefined {
  if (request.op === 'multi') return new SessionError('UNIMPLEMENTED', 'This client has no transactions');
  if (request.op !== 'create' || request.acl === undefined || isOpen(request.acl)) return undefined;
  return new SessionError('UNIMPLEMENTED', 'This client creates nodes for anyone only', request.path);
}

/** Refuses a request, before any I/O, that a server would refuse or understand differently. */
function malformed(request: Request, chroot: string): SessionError | undefined {
  if (request.op !== 'multi') return malformedPath(request, chroot);
  for (const part of request.parts) {
    const refusal = malformedPath(part, chroot);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function malformedPath(
  request: Exclude<Request, { op: 'multi' }> | MultiPart,
  chroot: string,
): SessionError | undefined {
  const { op, path } = request;
  if (op !== 'create') return checkPath(path);
  if (path === '/' && chroot !== '') {
    // The server would append the number to the chroot itself, and so create the node outside of it.
    return new SessionError('BAD_ARGUMENTS', 'A node with an empty name cannot be made directly under a chroot', path);
  }
  return checkPath(path, request.mode.endsWith('sequential'));
}
