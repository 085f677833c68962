import { describe, expect, it } from '@jest/globals';
import { LockService } from '../../../lib/index.js';
import { type SampleApp, startSampleApp } from './support/start-sample-app.js';

const KEY = '/locks/files/journal';
const WHY = { key: KEY, reason: 'stuck since noon' };

async function step(sample: SampleApp, name: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const headers = { 'content-type': 'application/json' };
  const response = await sample.request(`/operators/${name}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

describe('the operators of the sample application', () => {
  it('break a lock whose holder is stuck, by its token: the next one enters when its work has ended', async () => {
    await using sample = await startSampleApp();
    const locks = sample.get(LockService);
    const stuck = await locks.acquire(KEY);
    const next = locks.acquire(KEY);
    expect((await step(sample, 'break', { ...WHY, token: '7' })).status).toBe(409);
    expect(stuck.isHeld()).toBe(true);
    const told = new Promise((resolve) => stuck.signal.addEventListener('abort', resolve, { once: true }));
    const broken = step(sample, 'break', { ...WHY, token: String(stuck.fencingToken) });
    await told;
    expect(stuck.signal.reason).toMatchObject({ code: 'LOCK_BROKEN', reason: 'stuck since noon' });
    await stuck.release();
    expect(await broken).toMatchObject({ status: 200, body: { ended: 'in order' } });
    await (await next).release();
  });

  it('drain a queue: the waits end, and the holder goes on', async () => {
    await using sample = await startSampleApp();
    const locks = sample.get(LockService);
    await using lock = await locks.acquire(KEY);
    const waiting = sample.request('/files/journal', {
      method: 'PUT',
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    while ((await locks.inspect(KEY)).queueLength === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await step(sample, 'drain', WHY)).toMatchObject({ status: 200, body: { removed: 1 } });
    expect((await waiting).status).toBe(503);
    expect(lock.isHeld()).toBe(true);
  });

  it('clear nothing where nobody has died, and do nothing without a reason', async () => {
    await using sample = await startSampleApp();
    expect((await step(sample, 'clear', { ...WHY, token: '7' })).status).toBe(409);
    for (const body of [{ key: KEY }, { reason: 'x' }, { key: '/elsewhere', reason: 'x' }, { ...WHY, token: 'x' }])
      expect([body, (await step(sample, 'break', body)).status]).toEqual([body, 400]);
  });
});
