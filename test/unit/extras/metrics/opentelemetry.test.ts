import { channel } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import * as opentelemetry from '@opentelemetry/api';
import type { Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { recordLockMetrics } from '../../../../lib/extras/metrics/index.js';
import { type AcquireMessage, LOCK_CHANNELS } from '../../../../lib/lock/channels.js';
import { LockTimeoutError } from '../../../../lib/lock/errors.js';
import { type ClosableLockService, createLockService } from '../../../../lib/open.js';
import { eventually } from '../../../support/process/eventually.js';

const KEY = '/locks/orders/7';
const OPTIONS = { template: '/locks/orders/:id', label: 'Orders.pay' };

describe('Locks in OpenTelemetry', () => {
  const spans = new InMemorySpanExporter();
  let metrics: InMemoryMetricExporter;
  let reader: PeriodicExportingMetricReader;
  let locks: ClosableLockService;
  let stop: () => void;

  beforeEach(async () => {
    spans.reset();
    metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 });
    opentelemetry.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    opentelemetry.trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
    );
    opentelemetry.metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    locks = await createLockService({ connect: 'memory:' });
    stop = recordLockMetrics({ default: locks }, { opentelemetry });
  });
  afterEach(async () => {
    stop();
    await locks.close();
    await reader.shutdown();
    opentelemetry.context.disable();
    opentelemetry.trace.disable();
    opentelemetry.metrics.disable();
  });

  /** Spans are made a moment after what they tell of. */
  const ended = (count: number): Promise<unknown> =>
    eventually(`${count} spans have ended`, () => spans.getFinishedSpans().length === count);

  it('are spans of calls and holds below the span of the caller, with the key as an attribute and not in the name', async () => {
    const tracer = opentelemetry.trace.getTracer('test');
    const caller = await tracer.startActiveSpan('caller', async (span) => {
      await locks.withLock(KEY, () => undefined, OPTIONS);
      span.end();
      return span;
    });
    await ended(3);
    const finished = spans.getFinishedSpans().filter(({ name }) => name !== 'caller');
    expect(finished.map(({ name }) => name).sort()).toEqual(['acquire /locks/orders/:id', 'hold /locks/orders/:id']);
    for (const span of finished) {
      expect(span.parentSpanContext?.spanId).toBe(caller.spanContext().spanId);
      expect(span.attributes).toMatchObject({
        'zk_lock.key': KEY,
        'zk_lock.template': '/locks/orders/:id',
        'zk_lock.label': 'Orders.pay',
        'zk_lock.mode': 'exclusive',
        'zk_lock.fencing_token': expect.stringMatching(/^\d+$/),
      });
    }
  });

  /** A span around the call, as that of a request. */
  async function within<T>(name: string, call: () => Promise<T>): Promise<{ readonly result: T; readonly id: string }> {
    return opentelemetry.trace.getTracer('test').startActiveSpan(name, async (span) => {
      const result = await call();
      span.end();
      return { result, id: span.spanContext().spanId };
    });
  }

  const spansOf = (what: string): ReadableSpan[] =>
    spans.getFinishedSpans().filter(({ name }) => name.startsWith(what));
  const linksOf = ({ links }: ReadableSpan): string[] => links.map(({ context }) => context.spanId);

  it('link the call that waits to the span in which the one that it waits for was made', async () => {
    const holder = await within('holder', () => locks.acquire(KEY, OPTIONS));
    const waiting = within('waiter', () => locks.acquire(KEY, OPTIONS));
    await eventually('it waits', () => locks.query().pending[0]?.ahead === 1);
    await holder.result.release();
    await (await waiting).result.release();
    await ended(6);
    const [first, second] = spansOf('acquire');
    expect(linksOf(first!)).toEqual([]);
    expect(linksOf(second!)).toEqual([holder.id]);
    expect(second!.links[0]!.context).toMatchObject({ traceId: spansOf('holder')[0]!.spanContext().traceId });
    expect(second!.attributes).toMatchObject({ 'zk_lock.queue.ahead': 1, 'zk_lock.outcome': 'acquired' });
    expect(spansOf('hold /').map(linksOf)).toEqual([[], []]);
  });

  it('link to the hold itself where it was begun in no span, from calls made in none as well', async () => {
    const lock = await locks.acquire(KEY, OPTIONS);
    const waiting = locks.acquire(KEY, OPTIONS);
    const late = within('late', () => locks.acquire(KEY, { ...OPTIONS, waitMs: 200 }).catch((error: unknown) => error));
    expect((await late).result).toBeInstanceOf(LockTimeoutError);
    // The one that has failed has its span before the hold has ended.
    await eventually('the span of the call that failed', () => spansOf('acquire').length === 2);
    await lock.release();
    await (await waiting).release();
    await ended(6);
    const [, timedOut, waiter] = spansOf('acquire');
    const [hold, next] = spansOf('hold');
    expect(timedOut!.attributes).toMatchObject({ 'zk_lock.outcome': 'timeout' });
    expect([timedOut, waiter].map((span) => linksOf(span!))).toEqual([
      [hold!.spanContext().spanId],
      [hold!.spanContext().spanId],
    ]);
    expect([hold, next].map((span) => linksOf(span!))).toEqual([[], []]);
  });

  it('write nothing to nodes for spans that are not recorded', async () => {
    const { context, metrics: meters, trace } = opentelemetry;
    stop();
    const provider = new BasicTracerProvider({ sampler: new AlwaysOffSampler() });
    const getTracer = (name: string): Tracer => provider.getTracer(name);
    const { getSpanContext } = trace;
    stop = recordLockMetrics(
      { default: locks },
      { opentelemetry: { context, metrics: meters, trace: { getTracer, getSpanContext } } },
    );
    const told: unknown[] = [];
    const listener = (message: unknown): void => void told.push((message as AcquireMessage).traceparent);
    channel(LOCK_CHANNELS.enqueue).subscribe(listener);
    await (await locks.acquire(KEY, OPTIONS)).release();
    channel(LOCK_CHANNELS.enqueue).unsubscribe(listener);
    expect(told).toEqual([undefined]);
  });

  it('say what a call failed with', async () => {
    await locks.acquire(KEY, OPTIONS);
    await expect(locks.acquire(KEY, { ...OPTIONS, waitMs: 50 })).rejects.toThrow(LockTimeoutError);
    await ended(2);
    const failed = spans.getFinishedSpans().at(-1)!;
    expect(failed.attributes).toMatchObject({ 'error.type': 'timeout', 'zk_lock.outcome': 'timeout' });
    expect(failed.status).toMatchObject({ code: opentelemetry.SpanStatusCode.ERROR });
  });

  it('are metrics with the units and names of OpenTelemetry, and no key', async () => {
    await locks.withLock(KEY, () => undefined, OPTIONS);
    const lock = await locks.acquire(KEY, OPTIONS);
    await reader.forceFlush();
    await lock.release();
    const found = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
    const units = new Map(found.map(({ descriptor }) => [descriptor.name, descriptor.unit]));
    expect(Object.fromEntries(units)).toMatchObject({
      'zk_lock.acquire.duration': 's',
      'zk_lock.hold.duration': 's',
      'zk_lock.queue.ahead': '{contender}',
      'zk_lock.held': '{lock}',
      'zk_lock.connection.state': '1',
      'zk_lock.certainty.left': 's',
    });
    const acquire = found.find(({ descriptor }) => descriptor.name === 'zk_lock.acquire.duration')!;
    expect(acquire.dataPoints).toHaveLength(1);
    expect(acquire.dataPoints[0]!.attributes).toEqual({
      'zk_lock.connection': 'default',
      'zk_lock.template': '/locks/orders/:id',
      'zk_lock.outcome': 'acquired',
    });
    expect((acquire.dataPoints[0]!.value as { count: number }).count).toBe(2);
    expect(JSON.stringify(found)).not.toContain(KEY);
  });

  it('are told of no more once it is stopped', async () => {
    stop();
    await locks.withLock(KEY, () => undefined, OPTIONS);
    expect(spans.getFinishedSpans()).toEqual([]);
  });

  it('need something to be recorded with', () => {
    expect(() => recordLockMetrics({ default: locks }, {})).toThrow(/client/);
  });
});
