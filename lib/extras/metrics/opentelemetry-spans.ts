import { tracingChannel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { type AcquireMessage, type HoldMessage, LOCK_CHANNELS } from '../../lock/channels.js';
import { detailsOf } from '../../lock/errors.js';
import type { Later } from './later.js';
import { outcomeOf } from './measurements.js';
import { nameOf, type OpenTelemetryApi, type OpenTelemetrySpan, SCOPE } from './opentelemetry-meter.js';

/** `SpanStatusCode.ERROR` */
const ERROR = 2;
/** When the monotonic clock began, in milliseconds since 1970. To ask for it takes longer than to ask the clock. */
const CLOCK_BEGAN_AT = performance.timeOrigin;

type Message = AcquireMessage | HoldMessage;

/** When something happened, and in which context. */
interface Instant {
  /** Since 1970. */
  readonly ms: number;
  readonly context: unknown;
}

/**
 * A span for each call for a lock, and one for each hold. The span of a call that finds the lock held in this process links to that
 * of the holder.
 * @returns how to stop
 */
export function traceLocks(
  connections: readonly string[],
  { trace, context }: OpenTelemetryApi,
  later: Later,
): () => void {
  const tracer = trace.getTracer(SCOPE);
  const spans = new WeakMap<Message, OpenTelemetrySpan>();
  /** The spans of the holds of this process, by connection and key. */
  const holders = new Map<string, Set<OpenTelemetrySpan>>();

  const begin = (
    what: string,
    message: Message,
    at: Instant,
    links: readonly OpenTelemetrySpan[],
  ): OpenTelemetrySpan => {
    const { template, key, mode, connection, label } = message;
    const facts = { key, mode, connection, ...(template && { template }), ...(label && { label }) };
    const attributes = Object.fromEntries(Object.entries(facts).map(([name, value]) => [nameOf(name), value]));
    const linked = links.map((span) => ({ context: span.spanContext() as never }));
    // The name is the template's, and never the key's: there would be a name for each order.
    const name = template === undefined ? what : `${what} ${template}`;
    const span = tracer.startSpan(name, { startTime: at.ms, attributes, links: linked }, at.context as never);
    spans.set(message, span);
    return span;
  };

  const now = (): Instant => ({ ms: CLOCK_BEGAN_AT + performance.now(), context: context.active() });
  const hearing: Hearing = { connections, later, now };
  const acquires = listen<AcquireMessage>(LOCK_CHANNELS.acquire, hearing, {
    start: (message, at) => begin('acquire', message, at, [...(holders.get(placeOf(message)) ?? [])]),
    asyncEnd: (message, at) => {
      const span = spans.get(message);
      if (span === undefined) return;
      const { ahead, token } = message;
      span.setAttribute(nameOf('outcome'), outcomeOf(message));
      if (ahead !== undefined) span.setAttribute(nameOf('queue.ahead'), ahead);
      if (token !== undefined) span.setAttribute(nameOf('fencing_token'), token);
      fail(span, message.error, outcomeOf(message));
      span.end(at.ms);
    },
  });
  const holds = listen<HoldMessage>(LOCK_CHANNELS.hold, hearing, {
    start: (message, at) => {
      const span = begin('hold', message, at, []);
      if (message.token !== undefined) span.setAttribute(nameOf('fencing_token'), message.token);
      const place = placeOf(message);
      holders.set(place, (holders.get(place) ?? new Set()).add(span));
    },
    asyncEnd: (message, at) => {
      const span = spans.get(message);
      if (span === undefined) return;
      const place = placeOf(message);
      const others = holders.get(place);
      others?.delete(span);
      if (others?.size === 0) holders.delete(place);
      span.setAttribute(nameOf('outcome'), message.outcome!);
      fail(span, message.error, message.reason ?? '');
      span.end(at.ms);
    },
  });
  return () => {
    acquires();
    holds();
    later.flush();
  };
}

function placeOf({ connection, key }: Message): string {
  return `${connection} ${key}`;
}

/** The error's type is one of a few; its details, which name the key and servers, are for the operator who reads the span. */
function fail(span: OpenTelemetrySpan, error: unknown, type: string): void {
  if (error === undefined) return;
  span.setAttribute('error.type', type);
  span.setStatus({ code: ERROR, message: detailsOf(error) });
}

/** Whose messages are heard, and when their spans are made. */
interface Hearing {
  readonly connections: readonly string[];
  readonly later: Later;
  readonly now: () => Instant;
}

function listen<Heard extends Message>(
  name: string,
  { connections, later, now }: Hearing,
  hears: Readonly<Record<'start' | 'asyncEnd', (message: Heard, at: Instant) => unknown>>,
): () => void {
  const channel = tracingChannel(name);
  const stops = (['start', 'asyncEnd'] as const).map((event) => {
    const listener = (message: unknown): void => {
      if (!connections.includes((message as Heard).connection)) return;
      const at = now();
      later.add(() => hears[event](message as Heard, at));
    };
    channel[event].subscribe(listener);
    return () => channel[event].unsubscribe(listener);
  });
  return () => {
    for (const stop of stops) stop();
  };
}
