import { type Channel, channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel';
import { type AcquireMessage, type HoldMessage, LOCK_CHANNELS } from '../lock/channels.js';
import { LockError, type LockLostError } from '../lock/errors.js';
import type { LossReason } from '../lock/events.js';
import type { LockScope } from '../lock/handle.js';
import type { LockMode } from '../lock/mode.js';
import { isTraceparent } from '../lock/traceparent.js';
import { type Asked, factsOf, type LockRequest } from './contender.js';

// Node may collect a channel that nothing refers to, and its subscribers with it.
const acquires: TracingChannel<unknown, AcquireMessage> = tracingChannel(LOCK_CHANNELS.acquire);
const enqueues: Channel = channel(LOCK_CHANNELS.enqueue);
const holds: TracingChannel<unknown, HoldMessage> = tracingChannel(LOCK_CHANNELS.hold);

const NOBODY: readonly string[] = [];
/** A call that waits for many, one after the other, was let in by the last of them. */
const MAX_WAITED_FOR = 8;

/** @returns the message, which is filled in on the way of the call; undefined where nobody listens */
export function beginAcquire(connection: string, asked: Asked): AcquireMessage | undefined {
  if (!acquires.hasSubscribers && !enqueues.hasSubscribers) return undefined;
  const { key, mode, label, template, owner } = factsOf(asked);
  const message: AcquireMessage = {
    connection,
    key,
    mode,
    label,
    template,
    owner,
    traceparent: undefined,
    waitedFor: NOBODY,
    ahead: undefined,
    waitedMs: undefined,
    handOverMs: undefined,
    token: undefined,
    outcome: undefined,
    code: undefined,
    error: undefined,
  };
  return begun(acquires, message);
}

/**
 * The call waits for the one that was made in this span.
 * @param find is called only where somebody listens to calls
 */
export function noteWaitsFor(message: AcquireMessage | undefined, find: () => string | undefined): void {
  if (message === undefined || message.outcome !== undefined) return;
  const traceparent = find();
  if (!isTraceparent(traceparent) || message.waitedFor.includes(traceparent)) return;
  message.waitedFor = [...message.waitedFor, traceparent].slice(-MAX_WAITED_FOR);
}

export function tellEnqueued(message: AcquireMessage, ahead: number): void {
  message.ahead = ahead;
  enqueues.publish(message);
}

export function endAcquire(message: AcquireMessage, outcome: 'acquired' | 'busy' | 'failed', waitedMs: number): void {
  message.outcome = outcome;
  message.waitedMs = waitedMs;
  ended(acquires, message);
}

export function failAcquire(message: AcquireMessage, error: unknown, waitedMs: number): void {
  message.error = error;
  message.code = error instanceof LockError ? error.code : undefined;
  endAcquire(message, 'failed', waitedMs);
}

/** A hold, as far as those who listen to holds are told of it. */
interface TracedHold {
  readonly request: LockRequest;
  readonly mode: LockMode;
  readonly heldSince: number;
  readonly ageMs: number;
  readonly tokenText: string | undefined;
  readonly isLost: boolean;
  readonly lossReason: LossReason | undefined;
  onEnd(listener: (error: () => LockLostError) => void): void;
}

/** Tells those who listen to holds of this one. It is called in the async context of the call that has acquired the lock. */
export function traceHold(connection: string, scope: LockScope, hold: TracedHold): void {
  if (!holds.hasSubscribers) return;
  const { request, mode, heldSince, tokenText: token } = hold;
  const { key, label, template, owner } = factsOf(request);
  const message: HoldMessage = {
    connection,
    key,
    mode,
    label,
    template,
    owner,
    scope,
    token,
    waitedMs: heldSince - request.askedAt,
    heldMs: undefined,
    outcome: undefined,
    reason: undefined,
    error: undefined,
  };
  begun(holds, message);
  // A hold that was lost in the turns of promises before its caller heard of it calls back at once.
  hold.onEnd((error) => {
    message.mode = hold.mode;
    message.heldMs = hold.ageMs;
    message.reason = hold.lossReason;
    message.outcome = hold.isLost ? 'lost' : 'released';
    message.error = hold.isLost ? error() : undefined;
    ended(holds, message);
  });
}

function begun<Message extends object>(channel: TracingChannel<unknown, Message>, message: Message): Message {
  channel.start.publish(message);
  channel.end.publish(message);
  return message;
}

function ended<Message extends { readonly error: unknown }>(
  channel: TracingChannel<unknown, Message>,
  message: Message,
): void {
  if (message.error !== undefined) channel.error.publish(message);
  channel.asyncStart.publish(message);
  channel.asyncEnd.publish(message);
}
