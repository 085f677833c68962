import type { Clock } from '../../lock/clock.js';
import { failedWith, SessionError } from '../errors.js';
import type { Reply, WatchEvent, Watcher } from '../requests.js';
import { type Call, nextXid, SilentCall } from './call.js';
import {
  AUTH_XID,
  type Link,
  type LinkRequest,
  PING_XID,
  type Proof,
  proofBy,
  type RemovableWatch,
  type ReplyBody,
  SET_WATCHES_XID,
} from './link.js';
import { connectionLoss, readOutcome } from './outcome.js';
import { PendingCalls } from './pending-calls.js';
import type { Passage } from './proof-of-life.js';
import { ThrottledAnswers } from './throttled-answers.js';

/** Told what passes over an attached connection. */
export interface Traffic {
  onEvent(event: WatchEvent): void;
  /** The server answered this call, and what that proves. */
  onAnswered(call: Passage, answeredAt: number, proof: Proof): void;
  /** The server answered something that proves nothing but that it is there: a ping, or watches that were set again. */
  onHeard(sentAt: number, answeredAt: number): void;
  /** A call that asked for a watch succeeded; `found`: the node is there. */
  onWatchSet(call: Call, found: boolean): void;
  /** A call that asked for a watch failed while the removal of another watch waited for it. */
  onWatchNotSet(call: Call): void;
}

interface ConversationContext {
  readonly clock: Clock;
  /** Stands in front of every path at the server. */
  readonly chroot: string;
  readonly traffic: Traffic;
  /** Something was sent. */
  readonly onSent: (at: number) => void;
  /** What the server answers makes no sense, or cannot be gone on with. */
  readonly onBroken: (cause: Error) => void;
  readonly onAuthFailed: (errorNumber: number) => void;
}

/** Requests over one link and their answers, which come in the order of the requests. */
export class Conversation {
  readonly #context: ConversationContext;
  readonly #link: Link;
  readonly #pending = new PendingCalls();
  readonly #throttled: ThrottledAnswers;
  readonly #pingsSentAt: number[] = [];
  readonly #settingWatches = new PendingCalls();
  /** Credentials that were sent and not answered. */
  #unansweredAuths = 0;
  /** Watches the server would have been told to forget, had not a request for another on the same path been under way. */
  readonly skippedRemovals = new Set<string>();
  #xid = 0;
  #answers = 0;
  #isOver = false;

  constructor(link: Link, context: ConversationContext) {
    this.#link = link;
    this.#context = context;
    this.#throttled = new ThrottledAnswers(context.clock);
  }

  /** Sends a call; its `settle` tells what came of it. Only the chroot itself is made with a path from the root. */
  send(call: Call, chroot = this.#context.chroot): void {
    this.#xid = nextXid(this.#xid);
    call.xid = this.#xid;
    this.#transmit(call, chroot, this.#pending);
  }

  /** Watches that were set before this connection may not have been set again on it yet. */
  get isSettingWatches(): boolean {
    return !this.#settingWatches.isEmpty;
  }

  sendWatches(request: LinkRequest): void {
    const call = new SilentCall(request);
    call.xid = SET_WATCHES_XID;
    this.#transmit(call, '', this.#settingWatches);
  }

  sendAuth(scheme: string, credential: Uint8Array): void {
    this.#unansweredAuths += 1;
    this.#link.send(AUTH_XID, { op: 'auth', scheme, credential }, '');
  }

  ping(): void {
    const now = this.#context.clock.now();
    this.#pingsSentAt.push(now);
    this.#link.send(PING_XID, { op: 'ping' }, '');
    this.#context.onSent(now);
  }

  flush(): Promise<void> | undefined {
    return this.#link.flush();
  }

  /** Takes back a watch wish that was not answered yet. @returns whether there was one */
  unwatch(path: string, watcher: Watcher): boolean {
    return this.#pending.unwatch(path, watcher);
  }

  wantsWatchOn(path: string, kind: RemovableWatch): boolean {
    return this.#pending.wantWatchOn(path, kind);
  }

  /** From now on nothing is sent. */
  end(): void {
    this.#isOver = true;
  }

  settleAll(error: (call: Call) => SessionError): void {
    this.#throttled.settleAll();
    this.#pending.settleAll(error);
  }

  onReply(xid: number, errorNumber: number, body: ReplyBody, readAt: number): void {
    const { traffic, onAuthFailed, onBroken } = this.#context;
    switch (xid) {
      case PING_XID: {
        const sentAt = this.#pingsSentAt.shift();
        if (sentAt !== undefined) traffic.onHeard(sentAt, readAt);
        return;
      }
      case AUTH_XID:
        // What nobody asked for is said of no credentials, and must not end the client for good.
        if (this.#unansweredAuths === 0) return onBroken(new Error('it answered credentials that were not sent'));
        this.#unansweredAuths -= 1;
        if (errorNumber !== 0) onAuthFailed(errorNumber);
        return;
      case SET_WATCHES_XID: {
        // Whoever waits for one of them would never be told.
        if (errorNumber !== 0) return onBroken(new Error(`it did not set the watches again (error ${errorNumber})`));
        const call = this.#settingWatches.shift();
        if (call !== undefined) traffic.onHeard(call.sentAt, readAt);
        return;
      }
      default:
        this.#answer(xid, errorNumber, body, readAt);
    }
  }

  #transmit(call: Call, chroot: string, pending: PendingCalls): void {
    if (this.#isOver) {
      call.settle(connectionLoss(call, new Error('the connection had ended before')));
      return;
    }
    call.sentAt = this.#context.clock.now();
    call.sentAfter = this.#answers;
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
    this.#context.onSent(call.sentAt);
  }

  #answer(xid: number, errorNumber: number, body: ReplyBody, readAt: number): void {
    const { traffic, chroot, onBroken } = this.#context;
    const call = this.#pending.shift();
    if (call?.xid !== xid) {
      const expected = call === undefined ? 'none' : `${call.xid}`;
      if (call !== undefined) call.settle(connectionLoss(call, new Error('answers came out of order')));
      onBroken(new Error(`it answered request ${xid} out of order (expected ${expected})`));
      return;
    }
    let outcome: Reply | SessionError;
    try {
      outcome = readOutcome(call, errorNumber, body, chroot);
    } catch (malformed) {
      call.settle(connectionLoss(call, malformed));
      onBroken(malformed instanceof Error ? malformed : new Error(String(malformed)));
      return;
    }
    const failed = outcome instanceof SessionError;
    this.#answers += 1;
    call.answer = this.#answers;
    traffic.onAnswered(call, readAt, failed ? 'nothing' : proofBy(call.request));
    if (!failed && call.watcher !== undefined) traffic.onWatchSet(call, outcome !== undefined);
    else if (call.watcher !== undefined && failedWith(outcome, 'TOO_LARGE')) this.#takeBackWatch(call);
    else if (failed && this.skippedRemovals.size > 0) traffic.onWatchNotSet(call);
    if (failedWith(outcome, 'THROTTLED')) this.#throttled.add(call, outcome);
    else call.settle(outcome);
    // Said of the link or the session, not of the request: the next one would get the same, a handshake will tell more.
    if (outcome instanceof SessionError && outcome.outcomeUnknown) onBroken(outcome);
  }

  /** The server has answered, and set the watch, but the caller is told of an error: nobody would ever take it back. */
  #takeBackWatch(call: Call): void {
    call.unwatched = true;
    this.#context.traffic.onWatchSet(call, true);
  }
}
