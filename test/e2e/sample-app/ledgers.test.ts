import { describe, expect, it, jest } from '@jest/globals';
import { FencedFileStore } from '../../../lib/fencing/file-store/fenced-file-store.js';
import { LockTesting } from '../../../lib/extras/testing/index.js';
import { LockHandle } from '../../../lib/index.js';
import { type SampleApp, startSampleApp } from './support/start-sample-app.js';

const KEY = '/locks/ledgers/main';
const INTACT = { cash: 100, bank: 0 };

async function deposit(sample: SampleApp, amount: unknown): Promise<{ status: number; body: unknown }> {
  const body = JSON.stringify({ amount });
  const headers = { 'content-type': 'application/json' };
  const response = await sample.request('/ledgers/main/deposit', { method: 'POST', headers, body });
  return { status: response.status, body: await response.json() };
}

const balances = async (sample: SampleApp): Promise<unknown> => (await sample.request('/ledgers/main')).json();

describe('the ledgers of the sample application', () => {
  it('take cash to the bank, and refuse what cannot be', async () => {
    await using sample = await startSampleApp();
    expect(await balances(sample)).toEqual(INTACT);
    expect(await deposit(sample, 30)).toEqual({ status: 200, body: { cash: 70, bank: 30 } });
    expect((await deposit(sample, 71)).status).toBe(409);
    for (const amount of [0, -1, 1.5, '5', undefined]) expect((await deposit(sample, amount)).status).toBe(400);
    expect(await balances(sample)).toEqual({ cash: 70, bank: 30 });
  });

  it.each<[string, (sample: SampleApp) => Promise<unknown>, unknown]>([
    ['reads them', balances, { cash: 70, bank: 30 }],
    ['deposits more', (sample) => deposit(sample, 5), { status: 200, body: { cash: 65, bank: 35 } }],
  ])('are whole to the next one who %s, where a process died between the two writes', async (_what, act, result) => {
    await using sample = await startSampleApp({ isBreakable: true });
    await using lock = await sample.locks.acquire(KEY);
    await sample.get(FencedFileStore).write('ledgers/main/cash', '70', lock);
    await lock.release();
    await LockTesting.of(sample.locks).abandon(KEY, { onAbandoned: 'recover', checkpoint: { cash: 70, bank: 30 } });

    expect(await act(sample)).toEqual(result);
  });

  it('are as they were, where a process died before it wrote anything', async () => {
    await using sample = await startSampleApp({ isBreakable: true });
    await LockTesting.of(sample.locks).abandon(KEY, { onAbandoned: 'recover' });
    expect(await balances(sample)).toEqual(INTACT);
  });

  it('are fenced by the lock itself, so that their writes wait while the lock is in doubt', async () => {
    await using sample = await startSampleApp();
    const written = jest.spyOn(sample.get(FencedFileStore), 'write');
    await deposit(sample, 1);
    expect(written.mock.calls.map((call) => call.at(-1))).toEqual([expect.any(LockHandle), expect.any(LockHandle)]);
  });
});
