import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import * as opentelemetry from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import * as client from '@prometheus-io/client';
import { recordLockMetrics } from '../../../lib/extras/metrics/index.js';
import type { LockClient } from '../../support/locks/lock-client.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { eventually } from '../../support/process/eventually.js';

/** What the calls of the process that is looked at are told by. */
const TEMPLATE = '/locks/fresh/:id';

interface Distribution {
  readonly count: number;
  readonly sum: number;
}

describe('How many were ahead, in a queue that hangs', () => {
  const stage = new LockStage();
  let registry: client.Registry;
  let exporter: InMemoryMetricExporter;
  let reader: PeriodicExportingMetricReader;
  const stops: (() => void)[] = [];

  beforeEach(() => {
    registry = new client.Registry();
    exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) stop();
    await reader.shutdown();
  });

  function record({ service }: LockClient): void {
    const provider = new MeterProvider({ readers: [reader] });
    const { trace, context } = opentelemetry;
    stops.push(
      recordLockMetrics(
        { default: service },
        { client, registry, opentelemetry: { trace, context, metrics: { getMeter: (of) => provider.getMeter(of) } } },
      ),
    );
  }

  async function inPrometheus(): Promise<Distribution> {
    const text = await registry.metrics();
    const valueOf = (what: string): number =>
      Number(new RegExp(`^zk_lock_queue_ahead_${what}{.*template="${TEMPLATE}".*} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    return { count: valueOf('count'), sum: valueOf('sum') };
  }

  async function inOpenTelemetry(): Promise<Distribution> {
    exporter.reset();
    await reader.forceFlush();
    const points = exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
      .filter(({ descriptor }) => descriptor.name === 'zk_lock.queue.ahead')
      .flatMap(({ dataPoints }) => dataPoints as readonly DataPoint<Distribution>[])
      .filter(({ attributes }) => attributes['zk_lock.template'] === TEMPLATE);
    return points[0]?.value ?? { count: 0, sum: 0 };
  }

  it('is recorded while the callers still wait, by the servers’ own list', async () => {
    const one = await stage.open();
    const other = await stage.open();
    const key = stage.freshKey();
    record(other);
    const lock = await one.service.acquire(key);
    const waiting = [];
    // Two processes in turn: what is ahead of each is partly known to the other alone.
    for (const [index, { service }] of [other, one, other, one, other, one].entries()) {
      waiting.push(service.acquire(key, service === other.service ? { template: TEMPLATE } : {}));
      await stage.untilQueueHas(key, index + 2);
    }
    await eventually('the histograms have those who wait', async () => {
      // Of the one process that is measured: one, three and five were ahead.
      expect(await inPrometheus()).toEqual({ count: 3, sum: 1 + 3 + 5 });
      expect(await inOpenTelemetry()).toMatchObject({ count: 3, sum: 1 + 3 + 5 });
      return true;
    });
    expect(other.service.query().pending).toHaveLength(3);
    expect(other.service.query().held).toEqual([]);

    await lock.release();
    for (const each of waiting) await (await each).release();
    // Nothing of it is counted again at the end.
    expect(await inPrometheus()).toEqual({ count: 3, sum: 9 });
    expect(await inOpenTelemetry()).toMatchObject({ count: 3, sum: 9 });
  });
});
