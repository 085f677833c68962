import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel';
import { type AcquireMessage, type HoldMessage, LOCK_CHANNELS } from '../lock/channels.js';
import { LockError } from '../lock/errors.js';
import { type Asked, factsOf } from './contender.js';

// Node may collect a channel that nothing refers to, and its subscribers with it.
const acquires: TracingChannel<unknown, AcquireMessage> = tracingChannel(LOCK_CHANNELS.acquire);
const holds: TracingChannel<unknown, HoldMessage> = tracingChannel(LOCK_CHANNELS.hold);

/** @returns what is filled in on the way of the call; undefined where nobody listens */
export function beginAcquire(connection: string, asked: Asked): AcquireMessage | undefined {
  if (!acquires.hasSubscribers) return undefined;
  const { key, mode, label, template, owner } = factsOf(asked);
  const message: AcquireMessage = {
    connection,
    key,
    mode,
    label,
    template,
    owner,
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

/** @returns what is filled in when the hold ends; undefined where nobody listens */
export function beginHold(
  connection: string,
  asked: Asked,
  facts: () => Pick<HoldMessage, 'scope' | 'token' | 'waitedMs' | 'mode'>,
): HoldMessage | undefined {
  if (!holds.hasSubscribers) return undefined;
  const { key, label, template, owner } = factsOf(asked);
  const { scope, token, waitedMs, mode } = facts();
  const message: HoldMessage = {
    connection,
    key,
    mode,
    label,
    template,
    owner,
    scope,
    token,
    waitedMs,
    heldMs: undefined,
    outcome: undefined,
    reason: undefined,
    error: undefined,
  };
  return begun(holds, message);
}

export function endHold(
  message: HoldMessage,
  end: Pick<HoldMessage, 'mode' | 'heldMs' | 'outcome' | 'reason' | 'error'>,
): void {
  ended(holds, Object.assign(message, end));
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
