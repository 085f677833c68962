import { channel } from 'node:diagnostics_channel';
import * as opentelemetry from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { recordLockMetrics } from '../../../lib/extras/metrics/index.js';
import { type AcquireMessage, LOCK_CHANNELS } from '../../../lib/lock/channels.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { createLockService } from '../../../lib/open.js';
import { TICK_MS } from '../locks/times.js';
import { eventually } from '../process/eventually.js';
import { onParentMessage, sendToParent } from '../process/parent.js';

/**
 * A process that traces its locks with a provider of its own. It does what it is told, answers each order, and says when a call of it
 * waits, and knows for whom.
 */
export type Order =
  /** `within`: the name of the span in which the call is made; without it there is none. */
  | { readonly do: 'acquire'; readonly key: string; readonly within?: string; readonly waitMs?: number }
  | { readonly do: 'release' }
  | { readonly do: 'tell spans' }
  | { readonly do: 'forget spans' };

export interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

const [connect = ''] = process.argv.slice(2);
const exporter = new InMemorySpanExporter();
opentelemetry.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
opentelemetry.trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
);
const tracer = opentelemetry.trace.getTracer('a test');
const locks = await createLockService({ connect, serverTickMs: TICK_MS, sessionTimeoutMs: 20 * TICK_MS });
recordLockMetrics({ default: locks }, { opentelemetry });
let lock: LockHandle | undefined;

async function acquire({ key, within, waitMs = 15_000 }: Extract<Order, { do: 'acquire' }>): Promise<void> {
  const call = (): Promise<LockHandle> => locks.acquire(key, { waitMs, template: '/locks/:id' });
  if (within === undefined) {
    lock = await call();
    return;
  }
  await tracer.startActiveSpan(within, async (span) => {
    try {
      lock = await call();
    } finally {
      span.end();
    }
  });
}

async function obey(order: Order): Promise<readonly Span[]> {
  switch (order.do) {
    case 'acquire':
      await acquire(order).catch(() => undefined);
      return [];
    case 'release':
      await lock?.release();
      return [];
    case 'forget spans':
      exporter.reset();
      return [];
    case 'tell spans':
      return exporter.getFinishedSpans().map((span) => ({
        name: span.name,
        ...idsOf(span.spanContext()),
        links: span.links.map(({ context }) => idsOf(context)),
      }));
  }
}

function idsOf({ traceId, spanId }: opentelemetry.SpanContext): { traceId: string; spanId: string } {
  return { traceId, spanId };
}

channel(LOCK_CHANNELS.enqueue).subscribe((message) => {
  const { ahead } = message as AcquireMessage;
  if (ahead === 0) return;
  // The node ahead is read a moment later. Where it has gone by then there is nothing to link to.
  void eventually('it knows for whom', () => (message as AcquireMessage).waitedFor.length > 0).then(() =>
    sendToParent({ type: 'waits' }),
  );
});
onParentMessage(
  (order) =>
    void obey(order as Order).then((spans) => sendToParent({ type: 'answer', spans, nodePath: lock?.nodePath })),
);
// Listening keeps the process alive, and tells it of its parent's end.
process.on('disconnect', () => process.exit());
await sendToParent({ type: 'ready' });
