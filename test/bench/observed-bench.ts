import { performance } from 'node:perf_hooks';
import * as opentelemetry from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor, InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import * as client from '@prometheus-io/client';
import { recordLockMetrics } from '../../lib/extras/metrics/index.js';
import { createLockService, type LockService } from '../../lib/index.js';
import { startZooKeeper } from '../support/zookeeper/start-zookeeper.js';
import { BENCH_SERVER } from './bench-server.js';
import type { Report } from './report.js';
import { median, medianRatio } from './statistics.js';

const PAIRS = 40;
const LOCKS = 250;
const WARM_UP_PAIRS = 4;
const OPTIONS = { template: '/bench/:id', label: 'bench' };
/** What it takes on a machine that does nothing else. */
export const OBSERVED_SECONDS = 50;

/**
 * An uncontended acquire with metrics, spans, events and history switched on against off, in pairs of which now one is first, now the
 * other.
 */
export async function benchObserved(report: Report): Promise<void> {
  await using server = await startZooKeeper(BENCH_SERVER);
  await using locks = await createLockService({ connect: server.connect, history: { keep: 20 } });
  await using plain = await createLockService({ connect: server.connect });
  const exporter = new InMemorySpanExporter();
  opentelemetry.trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }),
  );
  opentelemetry.metrics.setGlobalMeterProvider(new MeterProvider());
  const on: number[] = [];
  const off: number[] = [];
  const observed = async (): Promise<number> => {
    const stop = recordLockMetrics({ default: locks }, { client, registry: new client.Registry(), opentelemetry });
    const events = locks.events$.subscribe(() => undefined);
    try {
      return await acquireMs(locks);
    } finally {
      events.unsubscribe();
      stop();
      exporter.reset();
    }
  };
  for (let pair = -WARM_UP_PAIRS; pair < PAIRS; pair += 1) {
    const turns = [
      async () => ({ into: on, ms: await observed() }),
      async () => ({ into: off, ms: await acquireMs(plain) }),
    ];
    if (pair % 2 === 0) turns.reverse();
    for (const turn of turns) {
      const { into, ms } = await turn();
      if (pair >= 0) into.push(ms);
    }
  }
  report.rows(`uncontended acquire, observed or not (medians of ${PAIRS} interleaved pairs)`, [
    { name: 'on', scenario: 'observed', acquire_p50_ms: median(on), times_off: medianRatio(on, off) },
    { name: 'off', scenario: 'observed', acquire_p50_ms: median(off), times_off: 1 },
  ]);
}

/** The median of so many, each of a key of its own, as the benchmark of locks has them. */
async function acquireMs(locks: LockService): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < LOCKS; index += 1) {
    const begunAt = performance.now();
    const lock = await locks.acquire(`/bench/observed/${index % 10}`, OPTIONS);
    times.push(performance.now() - begunAt);
    await lock.release();
  }
  return median(times);
}
