import { channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel';
import { type AcquireMessage, type HoldMessage, LOCK_CHANNELS } from '../../../lib/lock/channels.js';

/** What was told on the channels of locks since this began to listen, in its order: `acquire start`, and a copy of the message. */
export class Heard {
  readonly all: { readonly what: string; readonly message: Record<string, unknown>; readonly original: object }[] = [];
  readonly #stops = [listen('acquire', this), listen('hold', this), listenToQueues(this)];

  get kinds(): string[] {
    return this.all.map(({ what }) => what);
  }

  /** The messages at each time that a call has joined a queue. */
  get enqueued(): AcquireMessage[] {
    return this.all.filter(({ what }) => what === 'enqueue').map(({ message }) => message as unknown as AcquireMessage);
  }

  /** The messages at the ends of calls. */
  get acquires(): AcquireMessage[] {
    return this.#ends('acquire') as AcquireMessage[];
  }

  /** The messages at the ends of holds. */
  get holds(): HoldMessage[] {
    return this.#ends('hold') as HoldMessage[];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  #ends(channel: string): unknown[] {
    return this.all.filter(({ what }) => what === `${channel} asyncEnd`).map(({ message }) => message);
  }
}

const EVENTS = ['start', 'end', 'error', 'asyncStart', 'asyncEnd'] as const;

function listenToQueues({ all }: Heard): () => void {
  const listener = (message: unknown): void => {
    all.push({ what: 'enqueue', message: { ...(message as object) }, original: message as object });
  };
  const enqueues = channel(LOCK_CHANNELS.enqueue);
  enqueues.subscribe(listener);
  return () => enqueues.unsubscribe(listener);
}

function listen(name: 'acquire' | 'hold', { all }: Heard): () => void {
  const channel: TracingChannel = tracingChannel(LOCK_CHANNELS[name]);
  const listeners = EVENTS.map((event) => {
    const listener = (message: unknown): void => {
      all.push({ what: `${name} ${event}`, message: { ...(message as object) }, original: message as object });
    };
    channel[event].subscribe(listener);
    return () => channel[event].unsubscribe(listener);
  });
  return () => {
    for (const stop of listeners) stop();
  };
}
