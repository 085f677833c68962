import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Param } from '@nestjs/common';
import * as client from '@prometheus-io/client';
import { LockMetricsModule } from '../../../lib/extras/metrics/index.js';
import { Locked, LockService } from '../../../lib/index.js';
import { eventually } from '../../support/process/eventually.js';
import { type PrometheusServer, promtool, startPrometheus } from '../../support/prometheus/start-prometheus.js';
import { startApplication, type TestApplication } from '../support/application.js';

const MONITORING = join(import.meta.dirname, '..', '..', '..', 'monitoring');
const RULES = join(MONITORING, 'prometheus-rules.yml');

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(readFileSync(join(MONITORING, 'grafana-dashboard.json'), 'utf8')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
};
const queries = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const));
/** The names of all metrics in the files that are shipped, but for their comments. */
const rules = readFileSync(RULES, 'utf8').replaceAll(/^\s*#.*$/gm, '');
const used = [...new Set(`${rules}${JSON.stringify(dashboard)}`.match(/zk_lock_\w+/g))];

/** As Grafana fills it in. */
function filledIn(query: string): string {
  return query.replaceAll('$__rate_interval', '1m').replaceAll(/\$(connection|template)/g, '.*');
}

const registry = new client.Registry();

@Controller()
class Application {
  constructor(@Inject(LockService) private readonly locks: LockService) {}

  @Get('orders/:id')
  @Locked('/locks/orders/:id', { waitMs: 500, onBusy: 'skip' })
  async pay(@Param('id') id: string): Promise<string | undefined> {
    await pause(50);
    return id;
  }

  /** A lock that is held for as long as the test lasts, with a call that waits for it and in vain. */
  @Get('hold')
  async hold(): Promise<void> {
    const options = { template: '/locks/reports/:id', waitMs: 3_600_000 };
    await this.locks.acquire('/locks/reports/1', options);
    void this.locks.acquire('/locks/reports/1', options).catch(() => undefined);
    await this.locks.acquire('/locks/reports/2', { ...options, leaseMs: 100 });
  }

  @Get('metrics')
  metrics(): Promise<string> {
    return registry.metrics();
  }
}

describe('The alert rules', () => {
  it('are as promtool would have them', async () => {
    await promtool('check', 'rules', RULES);
  });

  it('fire when they should, and not before', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
    try {
      const file = join(folder, 'alerts.yml');
      writeFileSync(file, readFileSync(join(import.meta.dirname, 'alerts.yml'), 'utf8').replace('RULES', RULES));
      await promtool('test', 'rules', file);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('In a Prometheus that scrapes an application under load', () => {
  let application: TestApplication;
  let prometheus: PrometheusServer;
  let isOver = false;
  let load: Promise<unknown>;

  beforeAll(async () => {
    const metrics = LockMetricsModule.forRoot({ client, registry });
    application = await startApplication({ imports: [metrics], controllers: [Application] });
    const { host } = new URL(application.url);
    await fetch(`${application.url}/hold`);
    const caller = async (id: number): Promise<void> => {
      while (!isOver) await fetch(`${application.url}/orders/${id}`);
    };
    // The third key has more callers than it can serve in time.
    load = Promise.all([1, 2, 2, 2, ...Array.from({ length: 15 }, () => 3)].map(caller));
    prometheus = await startPrometheus(host, RULES);
  }, 240_000);

  afterAll(async () => {
    isOver = true;
    await load;
    await prometheus[Symbol.asyncDispose]();
    await application[Symbol.asyncDispose]();
  }, 60_000);

  it.each(queries)(
    'the panel %s has values: %s',
    async (_title, query) => {
      const series = await eventually(
        query,
        async () => {
          const found = await prometheus.query(filledIn(query));
          // A template without calls in the window has no quantile.
          const finite = found.filter(({ value }) => Number.isFinite(value));
          return finite.length > 0 ? finite : undefined;
        },
        { withinMs: 60_000, everyMs: 250 },
      );
      expect(series.length).toBeGreaterThan(0);
    },
    120_000,
  );

  it('every metric that a panel or a rule names is there', async () => {
    expect(used.length).toBeGreaterThan(10);
    await eventually('a loss is scraped', async () => (await prometheus.query('zk_lock_losses_total')).length > 0);
    const missing: string[] = [];
    for (const name of used) if ((await prometheus.query(name)).length === 0) missing.push(name);
    expect(missing).toEqual([]);
  }, 120_000);

  it('every rule is evaluated without an error, and calls that fail again and again are an alert', async () => {
    const firing = 'ALERTS{alertname="ZkLockFailing", template="/locks/orders/:id", outcome="timeout"}';
    await eventually(firing, async () => (await prometheus.query(firing)).length > 0, { withinMs: 60_000 });
    expect(await prometheus.query('prometheus_rule_evaluation_failures_total > 0')).toEqual([]);
  }, 120_000);

  it('a query that is wrong would be noticed', async () => {
    await expect(prometheus.query('sum(zk_lock_held')).rejects.toThrow(/parse error/);
  });
});
