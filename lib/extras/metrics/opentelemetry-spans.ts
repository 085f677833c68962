import { type Channel, channel, tracingChannel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { type AcquireMessage, type HoldMessage, LOCK_CHANNELS } from '../../lock/channels.js';
import { detailsOf } from '../../lock/errors.js';
import type { Later } from './later.js';
import { outcomeOf } from './measurements.js';
import {
  nameOf,
  type OpenTelemetryApi,
  type OpenTelemetryLink,
  type OpenTelemetrySpan,
  type OpenTelemetrySpanContext,
  SCOPE,
} from './opentelemetry-meter.js';

/** `SpanStatusCode.ERROR` */
const ERROR = 2;
/** `TraceFlags.SAMPLED` */
const SAMPLED = 1;
/** When the monotonic clock began, in milliseconds since 1970. To ask for it takes longer than to ask the clock. */
const CLOCK_BEGAN_AT = performance.timeOrigin;

type Message = AcquireMessage | HoldMessage;

/** How a call or a hold began. */
interface Begin {
  /** Since 1970. */
  readonly ms: number;
  readonly context: unknown;
  span?: OpenTelemetrySpan;
  /** The hold of this process that a call found when it joined the queue, if that was begun in no span. */
  hold?: HoldMessage;
}

/**
 * A span for each call for a lock and one for each hold, which are made a moment after their ends. The span of a call that waited links to
 * the spans in which the calls that it waited for were made, in whichever process: there is what was done while they had the lock. To
 * a hold of this process that was begun in no span it links itself.
 * @returns how to stop
 */
export function traceLocks(
  connections: readonly string[],
  { trace, context }: OpenTelemetryApi,
  later: Later,
): () => void {
  const tracer = trace.getTracer(SCOPE);
  const begins = new WeakMap<Message, Begin>();
  /** Of the holds of this process that were begun in no span the newest of each key. */
  const holds = new Map<string, HoldMessage>();

  const begin = (message: Message): OpenTelemetrySpanContext | undefined => {
    const begun = { ms: now(), context: context.active() };
    begins.set(message, begun);
    return trace.getSpanContext(begun.context as never);
  };

  const spanOf = (what: string, message: Message, links: OpenTelemetryLink[] = []): OpenTelemetrySpan | undefined => {
    const begun = begins.get(message);
    if (begun === undefined) return undefined;
    const { template, key, mode, connection, label } = message;
    const facts = { key, mode, connection, ...(template && { template }), ...(label && { label }) };
    const attributes = Object.fromEntries(Object.entries(facts).map(([name, value]) => [nameOf(name), value]));
    // The name is the template's, and never the key's: there would be a name for each order.
    const name = template === undefined ? what : `${what} ${template}`;
    return (begun.span ??= tracer.startSpan(name, { startTime: begun.ms, attributes, links }, begun.context as never));
  };

  const linksOf = (message: AcquireMessage): OpenTelemetryLink[] => {
    const links = message.waitedFor.map(linkTo);
    const hold = begins.get(message)?.hold;
    if (hold !== undefined) links.push({ context: spanOf('hold', hold)!.spanContext() });
    return links;
  };

  const stops = [
    listen(tracingChannel(LOCK_CHANNELS.acquire).start, connections, later, (message: AcquireMessage) => {
      const caller = begin(message);
      // Another tracer of the application may have been here before.
      message.traceparent ??= traceparentOf(caller);
    }),
    listen(channel(LOCK_CHANNELS.enqueue), connections, later, (message: AcquireMessage) => {
      if (message.ahead === 0) return;
      const hold = holds.get(message.key);
      const begun = begins.get(message);
      if (hold?.connection === message.connection && begun !== undefined) begun.hold = hold;
    }),
    listen(tracingChannel(LOCK_CHANNELS.acquire).asyncEnd, connections, later, (message: AcquireMessage) => {
      const ms = now();
      later.add(() => end(spanOf('acquire', message, linksOf(message)), message, ms));
    }),
    listen(tracingChannel(LOCK_CHANNELS.hold).start, connections, later, (message: HoldMessage) => {
      if (begin(message) === undefined) holds.set(message.key, message);
    }),
    listen(tracingChannel(LOCK_CHANNELS.hold).asyncEnd, connections, later, (message: HoldMessage) => {
      const ms = now();
      if (holds.get(message.key) === message) holds.delete(message.key);
      later.add(() => end(spanOf('hold', message), message, ms));
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    later.flush();
  };
}

function now(): number {
  return CLOCK_BEGAN_AT + performance.now();
}

/** @returns undefined for a span that is not recorded, and where there is none */
function traceparentOf(span: OpenTelemetrySpanContext | undefined): string | undefined {
  // A link to a span that is not recorded would lead nowhere.
  if (span === undefined || (span.traceFlags & SAMPLED) === 0) return undefined;
  return `00-${span.traceId}-${span.spanId}-01`;
}

function linkTo(traceparent: string): OpenTelemetryLink {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return { context: { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true } };
}

/** @param span undefined for what has begun before this was told of anything */
function end(span: OpenTelemetrySpan | undefined, message: Message, ms: number): void {
  if (span === undefined) return;
  const isHold = 'heldMs' in message;
  const { token, error } = message;
  span.setAttribute(nameOf('outcome'), isHold ? message.outcome! : outcomeOf(message));
  if (token !== undefined) span.setAttribute(nameOf('fencing_token'), token);
  if (!isHold && message.ahead !== undefined) span.setAttribute(nameOf('queue.ahead'), message.ahead);
  if (error !== undefined) {
    // The error's type is one of a few; its details, which name the key and servers, are for the operator who reads the span.
    span.setAttribute('error.type', isHold ? (message.reason ?? '') : outcomeOf(message));
    span.setStatus({ code: ERROR, message: detailsOf(error) });
  }
  span.end(ms);
}

function listen<Heard extends Message>(
  to: Channel,
  connections: readonly string[],
  later: Later,
  hear: (message: Heard) => void,
): () => void {
  const listener = (message: unknown): void => {
    if (!connections.includes((message as Heard).connection)) return;
    try {
      hear(message as Heard);
    } catch (error) {
      later.failed(error);
    }
  };
  to.subscribe(listener);
  return () => to.unsubscribe(listener);
}
