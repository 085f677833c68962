import type { Clock, Timer } from '../../lock/clock.js';
import { SessionError } from '../errors.js';
import type { Reply, WatchEvent, Watcher } from '../requests.js';
import { type Call, nextXid, SilentCall } from './call.js';
import {
  AUTH_XID,
  type Dialer,
  type Handshake,
  type HandshakeReply,
  isWrite,
  type Link,
  type LinkListener,
  type LinkRequest,
  PING_XID,
  type RemovableWatch,
  type ReplyBody,
  type Server,
  SET_WATCHES_XID,
} from './link.js';
import { Liveness } from './liveness.js';
import { connectionLoss, readOutcome } from './outcome.js';
import { PendingCalls } from './pending-calls.js';
import { watchConflict } from './watch-registry.js';

/** How a connection ended, as far as it matters for what comes next. */
export type Ending =
  /** Not reached, or no answer in time. */
  | 'unreachable'
  /** The server hung up on our handshake: it does not serve, or we have seen a newer state than it has. */
  | 'refused'
  /** It had been attached. */
  | 'dropped';

/** Told what becomes of a connection. */
export interface ConnectionOwner {
  /** The server granted the offered session, or a new one. */
  onAttached(connection: Connection, reply: HandshakeReply): void;
  /** The server says that the offered session has ended. */
  onExpired(connection: Connection): void;
  onEnded(connection: Connection, ending: Ending, cause: Error): void;
  onAuthFailed(errorNumber: number): void;
}

/** Told what passes over an attached connection. */
export interface Traffic {
  onEvent(event: WatchEvent): void;
  /** An answer came to a request sent at `sentAt`; `committed`: it was a write, and it is in the log of a quorum. */
  onAnswered(sentAt: number, answeredAt: number, committed: boolean): void;
  /** A call that asked for a watch succeeded; `found`: the node is there. */
  onWatchSet(call: Call, found: boolean): void;
  /** A call that asked for a watch failed while the removal of another watch waited for it. */
  onWatchNotSet(call: Call): void;
}

type Phase = 'dialing' | 'shaking' | 'attached' | 'ended';
const ENDING_IN: Readonly<Record<Phase, Ending>> = {
  dialing: 'unreachable',
  shaking: 'refused',
  attached: 'dropped',
  ended: 'dropped',
};

export interface ConnectionContext {
  readonly clock: Clock;
  readonly dialer: Dialer;
  /** Stands in front of every path at the server. */
  readonly chroot: string;
  readonly owner: ConnectionOwner;
  readonly traffic: Traffic;
}

/** One connection to one server: handshake, requests and their answers in order, signs of life. It is used once. */
export class Connection implements LinkListener {
  readonly #clock: Clock;
  readonly #owner: ConnectionOwner;
  readonly #traffic: Traffic;
  readonly #chroot: string;
  readonly #link: Link;
  readonly #pending = new PendingCalls();
  readonly #patience: Timer;
  readonly #pingsSentAt: number[] = [];
  readonly #settingWatches = new PendingCalls();
  #phase: Phase = 'dialing';
  #liveness: Liveness | undefined;
  #xid = 0;
  #readAt = 0;
  #treesWereAsked = false;
  /** Watches the server would have been told to forget, had not a request for another on the same path been under way. */
  readonly skippedRemovals = new Set<string>();
  /** When the handshake was sent: the instant from which a new session, or an attached one, is known to the server. */
  handshakeSentAt = 0;

  constructor(
    readonly server: Server,
    readonly offer: Handshake,
    patienceMs: number,
    { clock, dialer, chroot, owner, traffic }: ConnectionContext,
  ) {
    this.#clock = clock;
    this.#owner = owner;
    this.#traffic = traffic;
    this.#chroot = chroot;
    this.#patience = clock.setTimer(patienceMs, () => {
      const stage = this.#phase === 'dialing' ? 'could not be reached' : 'did not answer the handshake';
      this.#end(new Error(`it ${stage} within ${Math.round(patienceMs)} ms`), 'unreachable');
    });
    this.#link = dialer.dial(server, this);
  }

  get lastZxid(): bigint {
    return this.#link.lastZxid;
  }

  get isAttached(): boolean {
    return this.#phase === 'attached';
  }

  get lastReadAt(): number {
    return this.#readAt;
  }

  /** Sends a call; its `settle` tells what came of it. Only the chroot itself is made with a path from the root. */
  send(call: Call, chroot = this.#chroot): void {
    this.#xid = nextXid(this.#xid);
    call.xid = this.#xid;
    if (call.watchTable === 'any') this.#treesWereAsked = true;
    this.#transmit(call, chroot, this.#pending);
  }

  sendWatches(request: LinkRequest): void {
    const call = new SilentCall(request);
    call.xid = SET_WATCHES_XID;
    this.#transmit(call, '', this.#settingWatches);
  }

  sendAuth(scheme: string, credential: Uint8Array): void {
    this.#link.send(AUTH_XID, { op: 'auth', scheme, credential }, '');
  }

  /** Takes back a watch wish that was not answered yet. @returns whether there was one */
  unwatchPending(path: string, watcher: Watcher): boolean {
    return this.#pending.unwatch(path, watcher);
  }

  hasPendingWatchOn(path: string, kind: RemovableWatch): boolean {
    return this.#pending.wantWatchOn(path, kind);
  }

  /** A tree watch and another one on the same path, of which one is still under way. */
  watchConflict({ op, path }: { readonly op: string; readonly path: string }): SessionError | undefined {
    const others: readonly RemovableWatch[] =
      op === 'watchTree' ? ['data', 'children'] : this.#treesWereAsked ? ['any'] : [];
    return others.some((table) => this.hasPendingWatchOn(path, table)) ? watchConflict(path) : undefined;
  }

  /** Gives the connection up, as if the server had: the owner looks for another. */
  giveUp(cause: Error): void {
    this.#end(cause);
  }

  /** Gives the connection up without telling the owner; outstanding calls settle with `error`. */
  destroy(error: (call: Call) => SessionError): void {
    this.#finish();
    this.#pending.settleAll(error);
  }

  onOpen(): void {
    this.#phase = 'shaking';
    this.handshakeSentAt = this.#clock.now();
    this.#link.handshake(this.offer);
  }

  onHandshake(reply: HandshakeReply): void {
    this.#patience.cancel();
    if (reply.timeoutMs <= 0) {
      // Only a session that was offered can have ended.
      if (this.offer.sessionId === 0n) return this.#end(new Error('it granted no session'), 'refused');
      this.#finish();
      this.#owner.onExpired(this);
      return;
    }
    this.#phase = 'attached';
    this.#owner.onAttached(this, reply);
  }

  /** From now on the connection keeps itself alive, and notices its own death. */
  startLiveness(timeoutMs: number, tickMs: number): void {
    this.#liveness = new Liveness(this.#clock, timeoutMs, tickMs, this.#readAt, {
      sendPing: () => this.#ping(),
      onSilence: (silentMs) => this.#end(new Error(`nothing was heard of it for ${Math.round(silentMs)} ms`)),
    });
  }

  onActivity(): void {
    this.#readAt = this.#clock.now();
    this.#liveness?.heard(this.#readAt);
  }

  onReply(xid: number, errorNumber: number, body: ReplyBody): void {
    switch (xid) {
      case PING_XID: {
        const sentAt = this.#pingsSentAt.shift();
        if (sentAt !== undefined) this.#traffic.onAnswered(sentAt, this.#readAt, false);
        return;
      }
      case AUTH_XID:
        if (errorNumber !== 0) this.#owner.onAuthFailed(errorNumber);
        return;
      case SET_WATCHES_XID: {
        // Whoever waits for one of them would never be told.
        if (errorNumber !== 0) return this.#end(new Error(`it did not set the watches again (error ${errorNumber})`));
        const call = this.#settingWatches.shift();
        if (call !== undefined) this.#traffic.onAnswered(call.sentAt, this.#readAt, false);
        return;
      }
      default:
        this.#answer(xid, errorNumber, body);
    }
  }

  onEvent(event: WatchEvent): void {
    this.#traffic.onEvent(event);
  }

  onClosed(cause: Error): void {
    this.#end(cause);
  }

  #transmit(call: Call, chroot: string, pending: PendingCalls): void {
    if (this.#phase === 'ended') {
      call.settle(connectionLoss(call, new Error('the connection had ended before')));
      return;
    }
    call.sentAt = this.#clock.now();
    try {
      if (!this.#link.send(call.xid, call.request, chroot)) {
        const text = `The ${call.request.op} is larger than a server accepts (1 MB)`;
        call.settle(new SessionError('TOO_LARGE', text, call.path));
        return;
      }
    } catch (cause) {
      call.settle(new SessionError('BAD_ARGUMENTS', `The ${call.request.op} cannot be encoded`, call.path, { cause }));
      return;
    }
    pending.push(call);
    this.#liveness?.sent(call.sentAt);
  }

  #ping(): void {
    const now = this.#clock.now();
    this.#pingsSentAt.push(now);
    this.#link.send(PING_XID, { op: 'ping' }, '');
    this.#liveness?.sent(now);
  }

  #answer(xid: number, errorNumber: number, body: ReplyBody): void {
    const call = this.#pending.shift();
    if (call?.xid !== xid) {
      const expected = call === undefined ? 'none' : `${call.xid}`;
      if (call !== undefined) call.settle(connectionLoss(call, new Error('answers came out of order')));
      this.#end(new Error(`it answered request ${xid} out of order (expected ${expected})`));
      return;
    }
    let outcome: Reply | SessionError;
    try {
      outcome = readOutcome(call, errorNumber, body, this.#chroot);
    } catch (malformed) {
      call.settle(connectionLoss(call, malformed));
      this.#end(malformed instanceof Error ? malformed : new Error(String(malformed)));
      return;
    }
    const failed = outcome instanceof SessionError;
    this.#traffic.onAnswered(call.sentAt, this.#readAt, !failed && isWrite(call.request));
    if (!failed && call.watcher !== undefined) this.#traffic.onWatchSet(call, outcome !== undefined);
    else if (failed && this.skippedRemovals.size > 0) this.#traffic.onWatchNotSet(call);
    call.settle(outcome);
  }

  #end(cause: Error, ending: Ending = ENDING_IN[this.#phase]): void {
    if (this.#phase === 'ended') return;
    this.#finish();
    this.#pending.settleAll((call) => connectionLoss(call, cause));
    this.#owner.onEnded(this, ending, cause);
  }

  #finish(): void {
    this.#phase = 'ended';
    this.#patience.cancel();
    this.#liveness?.stop();
    this.#link.destroy();
  }
}
