import type { LockConfigurationError } from '../../lock/errors.js';
import type { Handshake, HandshakeReply, Link, LinkListener, LinkRequest, LinkStage, Server } from '../core/link.js';
import type { WatchEvent } from '../requests.js';
import {
  type Answer,
  type Exchange,
  type ExchangeContext,
  bytesOf,
  exchangeFor,
  refuted,
  type Result,
} from './exchanges.js';
import type { NativeDialer } from './native-dialer.js';
import type { NativeSession } from './protocol.js';
import { offerOf, sessionIdOf } from './stats.js';
import { ThreadClient, type ThreadClientListener } from './thread.js';

/** A server cuts the connection at its `jute.maxbuffer` (0xfffff). The rest is room for what it adds to a request. */
const MAX_REQUEST_BYTES = 0xfffff - 1_024;
/** The package gives a handshake up after two thirds of the time-out that it asks for. */
const MIN_TIMEOUT_MS = 250;
const NO_SESSION: HandshakeReply = { timeoutMs: 0, sessionId: 0n, password: new Uint8Array(16) };

type State =
  | { readonly name: 'reaching'; readonly link: Link }
  | { readonly name: 'reached'; readonly address: string }
  | { readonly name: 'handshaking'; readonly client: ThreadClient; readonly offered: bigint }
  | { readonly name: 'open'; readonly client: ThreadClient; readonly sessionId: bigint }
  | { readonly name: 'closed' };

/** A request on its way. Requests are answered in the order in which they were sent. */
interface Pending {
  readonly xid: number;
  readonly request: LinkRequest;
  exchange: Exchange;
  /** The answers to the calls of this exchange, and how many are missing. */
  answers: Answer[];
  missing: number;
  /** Whether a server was asked. */
  readonly isReal: boolean;
  result: Result | undefined;
}

/**
 * One connection to one server over a client of the package, which is let go of when its connection ends: what decides
 * on reconnects, and offers the session to another server, is the session itself, and not the package.
 */
export class NativeLink implements Link, ThreadClientListener {
  readonly #dialer: NativeDialer;
  readonly #server: Server;
  readonly #listener: LinkListener;
  #state: State;
  #lastZxid = 0n;
  #pending: Pending[] = [];
  /** The requests that wait for the answers of calls, by the numbers of these calls. */
  readonly #callers = new Map<number, { readonly pending: Pending; readonly index: number }>();
  #calls = 0;
  /** Why the session is being closed by this link. */
  #failure: LockConfigurationError | undefined;

  constructor(dialer: NativeDialer, server: Server, listener: LinkListener, reach: (found: LinkListener) => Link) {
    this.#dialer = dialer;
    this.#server = server;
    this.#listener = listener;
    const link = reach({
      onServing: () => listener.onServing?.(),
      onOpen: () => this.#onReached(),
      onHandshake: () => undefined,
      onActivity: () => undefined,
      onReply: () => undefined,
      onEvent: () => undefined,
      onClosed: (cause) => this.onDown(cause),
    });
    this.#state = { name: 'reaching', link };
  }

  get lastZxid(): bigint {
    return this.#lastZxid;
  }

  get stage(): LinkStage | undefined {
    return this.#state.name === 'reaching' ? this.#state.link.stage : undefined;
  }

  handshake({ sessionId, password, timeoutMs }: Handshake): void {
    if (this.#state.name !== 'reached') return;
    const { address } = this.#state;
    const client = new ThreadClient(this.#dialer.packagePath, this);
    this.#state = { name: 'handshaking', client, offered: sessionId };
    const session = sessionId === 0n ? undefined : offerOf(sessionId, password);
    client.open(`${address}:${this.#server.port}`, Math.max(MIN_TIMEOUT_MS, timeoutMs), session);
  }

  send(xid: number, request: LinkRequest, chroot: string): boolean {
    if (this.#state.name !== 'open') return true;
    if (bytesOf(request, chroot) > MAX_REQUEST_BYTES) return false;
    const exchange = exchangeFor(request, this.#contextOf(this.#state.sessionId, chroot));
    const isReal = exchange.calls.length > 0;
    const pending: Pending = { xid, request, exchange, answers: [], missing: 0, isReal, result: undefined };
    this.#pending.push(pending);
    this.#begin(this.#state.client, pending, exchange);
    return true;
  }

  flush(): Promise<void> | undefined {
    return this.#state.name === 'open' ? this.#state.client.flush() : undefined;
  }

  destroy(): void {
    const state = this.#state;
    this.#state = { name: 'closed' };
    this.#pending = [];
    this.#callers.clear();
    if (state.name === 'reaching') state.link.destroy();
    else if ('client' in state) state.client.leave();
  }

  onUp({ id, password }: NativeSession, timeoutMs: number): void {
    if (this.#state.name !== 'handshaking') return;
    const { client, offered } = this.#state;
    const sessionId = sessionIdOf(id);
    this.#state = { name: 'open', client, sessionId };
    // The package offers a session without saying what it has seen, so a server that lags behind takes it up as well.
    // What is asked for behind a sync sees all that any server had shown.
    if (offered !== 0n) client.call({ number: 0, method: 'a_sync', args: ['/'] });
    this.#listener.onActivity();
    this.#listener.onHandshake({ timeoutMs, sessionId, password: Buffer.from(password, 'hex') });
  }

  onExpired(): void {
    this.#listener.onActivity();
    if (this.#state.name === 'handshaking') this.#listener.onHandshake(NO_SESSION);
  }

  onAnswer(number: number, rc: number, values: readonly unknown[]): void {
    const caller = this.#callers.get(number);
    if (this.#state.name !== 'open') return;
    // Nobody asked for the answer to the sync of a re-attach. Where it failed, nothing behind it can be trusted.
    if (caller === undefined) {
      if (rc !== 0) this.onDown(new Error(`it answered a sync with ${rc}`));
      return;
    }
    this.#callers.delete(number);
    const { pending, index } = caller;
    pending.answers[index] = { rc, values };
    pending.missing -= 1;
    if (pending.missing > 0) return;
    this.#conclude(this.#state.client, pending);
    if (pending.result !== undefined) this.#deliver();
  }

  onEvent(type: WatchEvent['type'], path: string): void {
    this.#listener.onActivity();
    this.#listener.onEvent({ type, path });
  }

  onSessionClosed(): void {
    if (this.#failure !== undefined) return this.onDown(this.#failure);
    const closing = this.#pending.shift();
    if (closing?.request.op !== 'closeSession') return;
    this.#listener.onActivity();
    this.#listener.onReply(closing.xid, 0, { read: () => undefined });
  }

  onDown(cause: Error): void {
    if (this.#state.name === 'closed') return;
    this.destroy();
    this.#listener.onClosed(this.#failure ?? cause);
  }

  #onReached(): void {
    if (this.#state.name !== 'reaching') return;
    const { link } = this.#state;
    const address = link.address ?? this.#server.host;
    this.#state = { name: 'reached', address };
    link.destroy();
    this.#listener.onOpen();
  }

  #begin(client: ThreadClient, pending: Pending, exchange: Exchange): void {
    pending.exchange = exchange;
    pending.answers = [];
    pending.missing = exchange.calls.length;
    exchange.calls.forEach((call, index) => {
      this.#calls += 1;
      this.#callers.set(this.#calls, { pending, index });
      client.call({ number: this.#calls, ...call });
    });
    if (pending.missing === 0) this.#conclude(client, pending);
  }

  #conclude(client: ThreadClient, pending: Pending): void {
    let next: Exchange | Result;
    try {
      next = pending.exchange.then(pending.answers);
    } catch (error) {
      return this.onDown(error instanceof Error ? error : new Error(String(error)));
    }
    if ('calls' in next) this.#begin(client, pending, next);
    else pending.result = next;
  }

  /** Tells of the requests at the front that are answered, in their order. */
  #deliver(): void {
    // A request that the package answers by itself proves nothing about the server. It is reported together with the next real
    // answer behind it, which proves that the server has heard of this session since the request was sent.
    let end = 0;
    for (let at = 0; this.#pending[at]?.result !== undefined; at += 1) if (this.#pending[at]!.isReal) end = at + 1;
    if (end === 0) return;
    this.#listener.onActivity();
    while (end > 0 && this.#state.name === 'open') {
      const { xid, request, result } = this.#pending[0]!;
      // The server has just answered, so the package's close, which blocks the thread, is quick.
      if (request.op === 'closeSession') return this.#state.client.closeSession();
      this.#pending.shift();
      end -= 1;
      for (const event of result!.events ?? []) this.#listener.onEvent(event);
      this.#listener.onReply(xid, result!.errorNumber, { read: () => result!.read?.() });
    }
  }

  #contextOf(sessionId: bigint, chroot: string): ExchangeContext {
    const dialer = this.#dialer;
    return {
      chroot,
      sessionId,
      get isFormulaProven() {
        return dialer.provenSession === sessionId;
      },
      onFormulaProven: () => (dialer.provenSession = sessionId),
      onFormulaRefuted: (path, byParent, own) => this.#refuse(refuted(path, byParent, own)),
      sawZxid: (zxid) => {
        if (zxid > this.#lastZxid) this.#lastZxid = zxid;
      },
    };
  }

  /** Gives the session up for good: these servers cannot be trusted with tokens. Nothing is held in it yet. */
  #refuse(failure: LockConfigurationError): void {
    if (this.#state.name !== 'open') return;
    this.#failure = failure;
    this.#pending = [];
    this.#callers.clear();
    this.#state.client.closeSession();
  }
}
