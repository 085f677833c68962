import { tracingChannel } from 'node:diagnostics_channel';
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
  /** Where it was started at once. */
  span?: OpenTelemetrySpan;
}

/**
 * A span for each call for a lock and one for each hold, which are made a moment after their ends. The span of a call that waited links to
 * the spans in which the calls that it waited for were made, in whichever process: there is what was done while they had the lock.
 * @returns how to stop
 */
export function traceLocks(
  connections: readonly string[],
  { trace, context }: OpenTelemetryApi,
  later: Later,
): () => void {
  const tracer = trace.getTracer(SCOPE);
  const begins = new WeakMap<Message, Begin>();

  const begin = (message: Message): Begin => {
    const begun = { ms: now(), context: context.active() };
    begins.set(message, begun);
    return begun;
  };

  const start = (what: string, message: Message, begun: Begin, links: OpenTelemetryLink[]): OpenTelemetrySpan => {
    const { template, key, mode, connection, label } = message;
    const facts = { key, mode, connection, ...(template && { template }), ...(label && { label }) };
    const attributes = Object.fromEntries(Object.entries(facts).map(([name, value]) => [nameOf(name), value]));
    // The name is the template's, and never the key's: there would be a name for each order.
    const name = template === undefined ? what : `${what} ${template}`;
    return tracer.startSpan(name, { startTime: begun.ms, attributes, links }, begun.context as never);
  };

  const endLater = (message: Message, spanOf: (begun: Begin) => OpenTelemetrySpan): void => {
    const begun = begins.get(message);
    const ms = now();
    if (begun !== undefined) later.add(() => end(spanOf(begun), message, ms));
  };

  const acquires = listen<AcquireMessage>(LOCK_CHANNELS.acquire, connections, later, {
    start: (message) => {
      const begun = begin(message);
      let caller = trace.getSpanContext(begun.context as never);
      // What waits for a call that is made in no span links to the span of the call, which must be there by then.
      if (caller === undefined) caller = (begun.span = start('acquire', message, begun, [])).spanContext();
      message.traceparent ??= traceparentOf(caller);
    },
    asyncEnd: (message) =>
      endLater(message, (begun) => {
        const links = message.waitedFor.map(linkTo);
        if (begun.span === undefined) return start('acquire', message, begun, links);
        for (const link of links) begun.span.addLink?.(link);
        return begun.span;
      }),
  });
  const holds = listen<HoldMessage>(LOCK_CHANNELS.hold, connections, later, {
    start: begin,
    asyncEnd: (message) => endLater(message, (begun) => start('hold', message, begun, [])),
  });
  return () => {
    acquires();
    holds();
    later.flush();
  };
}

function now(): number {
  return CLOCK_BEGAN_AT + performance.now();
}

/** @returns undefined for a span that is not recorded: a link would lead nowhere */
function traceparentOf({ traceId, spanId, traceFlags }: OpenTelemetrySpanContext): string | undefined {
  return (traceFlags & SAMPLED) === 0 ? undefined : `00-${traceId}-${spanId}-01`;
}

function linkTo(traceparent: string): OpenTelemetryLink {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return { context: { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true } };
}

function end(span: OpenTelemetrySpan, message: Message, ms: number): void {
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
  name: string,
  connections: readonly string[],
  later: Later,
  hears: Readonly<Record<'start' | 'asyncEnd', (message: Heard) => unknown>>,
): () => void {
  const channel = tracingChannel(name);
  const stops = (['start', 'asyncEnd'] as const).map((event) => {
    const listener = (message: unknown): void => {
      if (connections.includes((message as Heard).connection)) later.now(() => hears[event](message as Heard));
    };
    channel[event].subscribe(listener);
    return () => channel[event].unsubscribe(listener);
  });
  return () => {
    for (const stop of stops) stop();
  };
}
