import type { Clock } from '../../lock/clock.js';
import { AUTHENTICATION_REQUIRED, failedWith, SessionError } from '../errors.js';
import type { Reply, WatchEvent, Watcher } from '../requests.js';
import { Call, connectionLoss, nextXid, readOutcome } from './call.js';
import {
  AUTH_XID,
  type ControlRequest,
  type Link,
  PING_XID,
  type Proof,
  proofBy,
  type RemovableWatch,
  type ReplyBody,
  SET_WATCHES_XID,
} from './link.js';
import { PendingCalls, ThrottledAnswers } from './pending-calls.js';
import type { Passage } from './proof-of-life.js';

/** Hears what passes over an attached connection. */
export interface Traffic {
  onEvent(event: WatchEvent): void;
  /** The server answered this call; `proof` tells what the answer proves. */
  onAnswered(call: Passage, answeredAt: number, proof: Proof): void;
  /** A call that asked for a watch succeeded. `found` tells whether the node is there. */
  onWatchSet(call: Call, found: boolean): void;
  /** A call that asked for a watch failed while the removal of another watch was put off for its sake. */
  onWatchNotSet(call: Call): void;
}

interface ConversationContext {
  readonly clock: Clock;
  /** A prefix of every path at the server. */
  readonly chroot: string;
  readonly traffic: Traffic | undefined;
  /** A frame was handed to the link. */
  readonly onSent: (at: number) => void;
  /** The server's answer makes no sense, or the connection cannot go on after it. */
  readonly onBroken: (cause: Error) => void;
  readonly onAuthFailed: (errorNumber: number) => void;
}

type ApartRequest = Extract<ControlRequest, { op: 'ping' | 'auth' | 'setWatches' }>;
/** The answers to these do not queue behind those of the other requests. Each kind has a number of its own. */
const XIDS_APART: Readonly<Record<ApartRequest['op'], number>> = {
  ping: PING_XID,
  auth: AUTH_XID,
  setWatches: SET_WATCHES_XID,
};

/** The watches whose removal was put off because a request for another watch on the same path is under way. */
class SkippedRemovals {
  readonly #skipped = new Set<string>();

  get isEmpty(): boolean {
    return this.#skipped.size === 0;
  }

  add(kind: RemovableWatch, path: string): void {
    this.#skipped.add(`${kind}${path}`);
  }

  /** @returns whether it was there */
  delete(kind: RemovableWatch, path: string): boolean {
    // There is nearly never one, and each new text would be hashed to find that out.
    return !this.isEmpty && this.#skipped.delete(`${kind}${path}`);
  }
}

/** The requests sent over one link, and their answers. A server answers in the order of the requests. */
export class Conversation {
  readonly #context: ConversationContext;
  readonly #link: Link;
  readonly #pending = new PendingCalls();
  readonly #throttled: ThrottledAnswers;
  readonly #apart: ReadonlyMap<number, PendingCalls>;
  readonly skippedRemovals = new SkippedRemovals();
  #xid = 0;
  #answers = 0;
  #isOver = false;

  constructor(link: Link, context: ConversationContext) {
    this.#link = link;
    this.#context = context;
    this.#throttled = new ThrottledAnswers(context.clock);
    this.#apart = new Map(Object.values(XIDS_APART).map((xid) => [xid, new PendingCalls()]));
  }

  /**
   * Sends a call, whose `settle` tells the outcome. Only the requests that make the chroot itself pass a chroot of ''.
   */
  send(call: Call, chroot = this.#context.chroot): void {
    this.#xid = nextXid(this.#xid);
    call.xid = this.#xid;
    this.#transmit(call, chroot, this.#pending);
  }

  /** Whether watches of an earlier connection may not have been set again on this one yet. */
  get isSettingWatches(): boolean {
    return !this.#apart.get(SET_WATCHES_XID)!.isEmpty;
  }

  sendApart(request: ApartRequest): void {
    const call = new Call(request);
    call.xid = XIDS_APART[request.op];
    this.#transmit(call, '', this.#apart.get(call.xid)!);
  }

  flush(): Promise<void> | undefined {
    return this.#link.flush();
  }

  /** Takes back the wish for a watch in requests that are not answered yet. @returns the tables of these watches */
  unwatch(path: string, watcher: Watcher): ReadonlySet<RemovableWatch> {
    return this.#pending.unwatch(path, watcher);
  }

  /** Removes the watches on this path at the server, with those that requests under way are still about to set. */
  removeWatches(path: string, kind: RemovableWatch): void {
    this.#pending.removedBehind(path, kind);
    this.send(new Call({ op: 'removeWatches', path, kind }));
  }

  wantsWatchOn(path: string, kind: RemovableWatch): boolean {
    return this.#pending.wantWatchOn(path, kind);
  }

  /** Nothing is sent any more. */
  end(): void {
    this.#isOver = true;
  }

  settleAll(error: (call: Call) => SessionError): void {
    this.#throttled.settleAll();
    this.#pending.settleAll(error);
  }

  onReply(xid: number, errorNumber: number, body: ReplyBody, readAt: number): void {
    const { traffic, onAuthFailed, onBroken } = this.#context;
    if (errorNumber === AUTHENTICATION_REQUIRED) return onAuthFailed(errorNumber);
    const apart = this.#apart.get(xid);
    if (apart === undefined) return this.#answer(xid, errorNumber, body, readAt);
    const call = apart.shift();
    if (xid === AUTH_XID) {
      // A stray answer says nothing about our credentials, and must not close the client for good.
      if (call === undefined) onBroken(new Error('it answered credentials that were not sent'));
      else if (errorNumber !== 0) onAuthFailed(errorNumber);
      // Credentials do not touch the session at the server, so their answer is no news of it.
      return;
    }
    // A waiter whose watch is missing at the server would never be told, so the connection is given up.
    if (xid === SET_WATCHES_XID && errorNumber !== 0) {
      return onBroken(new Error(`it did not set the watches again (error ${errorNumber})`));
    }
    // A ping, or watches that are set again: the answer proves only that the server is there.
    if (call !== undefined) traffic?.onAnswered(call, readAt, 'nothing');
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
      // The call has left the list of pending calls, so `settleAll` would not reach it.
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
    // Certainty is brought up to date before the caller hears of the answer, since the caller may ask for it at once.
    traffic?.onAnswered(call, readAt, failed ? 'nothing' : proofBy(call.request));
    if (!failed && call.watcher !== undefined) traffic?.onWatchSet(call, outcome !== undefined);
    else if (call.watcher !== undefined && failedWith(outcome, 'TOO_LARGE')) this.#takeBackWatch(call);
    else if (failed && !this.skippedRemovals.isEmpty) traffic?.onWatchNotSet(call);
    if (failedWith(outcome, 'THROTTLED')) this.#throttled.add(call, outcome);
    else call.settle(outcome);
    // An outcome of this kind is about the link or the session, not about the request. The next request would get the
    // same; a new handshake tells more.
    if (outcome instanceof SessionError && outcome.outcomeUnknown) onBroken(outcome);
  }

  #takeBackWatch(call: Call): void {
    // The server has answered and has set the watch, but the caller gets an error and so never takes the watch back.
    call.unwatched = true;
    this.#context.traffic?.onWatchSet(call, true);
  }
}
