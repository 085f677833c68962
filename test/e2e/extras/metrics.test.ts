import * as successor from '@prometheus-io/client';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type INestApplication, Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import * as promClient from 'prom-client';
import {
  LockMetricsModule,
  type LockMetricsModuleOptions,
  recordLockMetrics,
} from '../../../lib/extras/metrics/index.js';
import { DistributedLockTestingModule, LockTesting } from '../../../lib/extras/testing/index.js';
import { Locked, LockKey, LockService } from '../../../lib/index.js';
import { processLocks } from '../../../lib/lock/process-locks.js';
import { eventually } from '../../support/process/eventually.js';

const TEMPLATE = '/locks/orders/:id';
const KEY = '/locks/orders/7';

@Injectable()
class Orders {
  work: () => Promise<void> = async () => undefined;

  @Locked(TEMPLATE, { onBusy: 'skip', waitMs: 200 })
  async pay(@LockKey('id') id: string): Promise<void> {
    await this.work();
    void id;
  }
}

/** The lines of a report without its comments, each as its name with labels, and its value. */
function valuesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

/** The labels in any order: the two clients write them in orders of their own. */
function valueOf(text: string, name: string, labels: Record<string, string>): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  for (const [line, value] of valuesOf(text)) {
    const [ofLine, rest = ''] = line.split(/[{}]/);
    const found = rest === '' ? [] : rest.split(/,(?=\w+=")/);
    if (ofLine === name && found.length === wanted.length && wanted.every((one) => found.includes(one))) return value;
  }
  return undefined;
}

const CLIENTS = [
  ['@prometheus-io/client', successor],
  ['prom-client', promClient],
] as const;

describe.each(CLIENTS)('LockMetricsModule with %s', (_name, client) => {
  let app: INestApplication;

  afterEach(() => app.close());

  async function start(options: Partial<LockMetricsModuleOptions> = {}): Promise<() => Promise<string>> {
    const registry = new client.Registry();
    const metrics = LockMetricsModule.forRoot({ client, registry, ...options });
    const module = await Test.createTestingModule({
      imports: [DistributedLockTestingModule.forRoot({ sessionTimeoutMs: 4_000 }), metrics],
      providers: [Orders],
    }).compile();
    app = await module.createNestApplication().init();
    return () => registry.metrics();
  }

  it('counts calls by template and outcome, and never by key', async () => {
    const metrics = await start();
    const orders = app.get(Orders);
    const testing = LockTesting.of(app.get(LockService));
    await orders.pay('7');
    await orders.pay('8');
    await testing.makeBusy(KEY);
    await orders.pay('7');
    await testing.release(KEY);

    const text = await metrics();
    const ofTemplate = { connection: 'default', template: TEMPLATE };
    const acquired = { ...ofTemplate, outcome: 'acquired' };
    expect(valueOf(text, 'zk_lock_acquire_duration_seconds_count', acquired)).toBe(2);
    expect(valueOf(text, 'zk_lock_acquire_duration_seconds_count', { ...ofTemplate, outcome: 'timeout' })).toBe(1);
    expect(valueOf(text, 'zk_lock_hold_duration_seconds_count', { ...ofTemplate, outcome: 'released' })).toBe(2);
    expect(valueOf(text, 'zk_lock_queue_ahead_bucket', { ...ofTemplate, le: '0' })).toBe(2);
    expect(valueOf(text, 'zk_lock_queue_ahead_count', ofTemplate)).toBe(3);
    expect(valueOf(text, 'zk_lock_queue_ahead_sum', ofTemplate)).toBe(1);
    expect(text).not.toContain(KEY);
  });

  it('shows what is held and waited for while it is so', async () => {
    const metrics = await start();
    const locks = app.get(LockService);
    const ofTemplate = { connection: 'default', template: TEMPLATE };
    const lock = await locks.acquire(KEY, { template: TEMPLATE });
    const waits = [1, 2, 3].map(() => locks.acquire(KEY, { template: TEMPLATE }));
    await eventually('the queue is known', async () => {
      const text = await metrics();
      expect(valueOf(text, 'zk_lock_held', ofTemplate)).toBe(1);
      expect(valueOf(text, 'zk_lock_waiting', ofTemplate)).toBe(3);
      expect(valueOf(text, 'zk_lock_queue_longest', ofTemplate)).toBe(3);
      expect(valueOf(text, 'zk_lock_hold_oldest_seconds', ofTemplate)).toBeGreaterThan(0);
      expect(valueOf(text, 'zk_lock_certainty_left_seconds', { connection: 'default' })).toBeGreaterThan(0);
      expect(valueOf(text, 'zk_lock_connection_state', { connection: 'default', state: 'connected' })).toBe(1);
      expect(valueOf(text, 'zk_lock_connection_state', { connection: 'default', state: 'lost' })).toBe(0);
      return true;
    });
    await lock.release();
    for (const wait of waits) await (await wait).release();
    await eventually('everything has gone', async () => {
      const text = await metrics();
      expect(valueOf(text, 'zk_lock_held', ofTemplate)).toBeUndefined();
      expect(valueOf(text, 'zk_lock_handover_duration_seconds_count', ofTemplate)).toBe(3);
      expect(valueOf(text, 'zk_lock_removals_unconfirmed', { connection: 'default' })).toBe(0);
      return true;
    });
  });

  it('counts losses by their reason', async () => {
    const metrics = await start();
    await app.get(LockService).acquire(KEY, { template: TEMPLATE });
    const labels = { connection: 'default', template: TEMPLATE, reason: 'session-ended' };
    // Prometheus sees no increase in a series that begins with 1.
    expect(valueOf(await metrics(), 'zk_lock_losses_total', labels)).toBe(0);
    await LockTesting.of(app.get(LockService)).lose(KEY);
    expect(valueOf(await metrics(), 'zk_lock_losses_total', labels)).toBe(1);
  });

  it('calls what has no template other, and all beyond the five hundredth', async () => {
    const metrics = await start();
    const locks = app.get(LockService);
    await (await locks.acquire('/locks/by-hand')).release();
    for (let index = 0; index < 502; index += 1)
      await (await locks.acquire(KEY, { template: `/t/${index}` })).release();
    const text = await metrics();
    const other = { connection: 'default', template: 'other', outcome: 'acquired' };
    expect(valueOf(text, 'zk_lock_acquire_duration_seconds_count', other)).toBe(3);
    expect(text).toContain('/t/499');
    expect(text).not.toContain('/t/500');
  });

  it('refuses a registry that has one of the metrics already, and leaves nothing in it', async () => {
    const registry = new client.Registry();
    const options = { name: 'zk_lock_losses_total', help: 'mine', registers: [registry as never] };
    const mine = new client.Counter(options);
    const records = (): (() => void) => recordLockMetrics({}, { client, registry });
    expect(records).toThrow(/has a metric zk_lock_losses_total already\. Record locks once/);
    expect(registry.getMetricsAsArray()).toEqual([mine]);
    registry.clear();
    const stop = records();
    expect(records).toThrow(expect.objectContaining({ code: 'LOCK_CONFIGURATION' }));
    // What the first one records stays.
    expect(await registry.metrics()).toContain('zk_lock_acquire_duration_seconds');
    stop();
    expect(registry.getMetricsAsArray()).toEqual([]);
    await start();
  });

  it('looks at the locks once for all the gauges that are read in one go, so that they agree', async () => {
    const registry = new client.Registry();
    const query = jest.fn(() => processLocks({ held: [], pending: [], removals: 0, certainMs: 0 }));
    const stop = recordLockMetrics({ default: { query, connectionState: 'connected' } }, { client, registry });
    await registry.metrics();
    expect(query).toHaveBeenCalledTimes(1);
    await registry.metrics();
    expect(query).toHaveBeenCalledTimes(2);
    stop();
    await start();
  });

  it('refuses a connection that there is not', async () => {
    await expect(start({ connections: ['stock'] })).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    await start();
  });
});
