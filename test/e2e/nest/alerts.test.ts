import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { LockAbortedError, LockTimeoutError } from '../../../lib/index.js';
import { eventually } from '../../support/process/eventually.js';
import { startApplication, type TestApplication } from '../support/application.js';

const KEY = '/locks/report';

describe('The log, once per incident,', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  let application: TestApplication;

  const told = (text: string): unknown[] => warn.mock.calls.filter(([line]) => String(line).includes(text));

  afterEach(async () => {
    await application[Symbol.asyncDispose]();
    warn.mockClear();
  });

  async function start(alerts: object | false): Promise<TestApplication['locks']> {
    application = await startApplication({}, { alerts });
    return application.locks;
  }

  it('warns of a lock that is held for too long', async () => {
    const locks = await start({ heldMs: 20 });
    const text = `${KEY} has been held for`;
    for (const times of [1, 2]) {
      const lock = await locks.acquire(KEY, { label: 'Reports.write' });
      await eventually('the warning', () => told(text).length === times);
      // Several looks later it is still told once.
      await eventually('looks go on', () => locks.query().held[0]!.heldMs > 200);
      expect(told(text)).toHaveLength(times);
      await lock.release();
    }
    expect(told('(Reports.write)')).toHaveLength(2);
  });

  it('warns of a queue that is too long, and names the call that has most ahead of it', async () => {
    const locks = await start({ heldMs: 40, queueLength: 1 });
    const lock = await locks.acquire(KEY);
    const waits = [1, 2, 3].map(() => locks.acquire(KEY));
    await eventually('the warning', () => told(`3 are ahead of a call that waits for ${KEY}`).length === 1);
    await lock.release();
    for (const wait of waits) await (await wait).release();
    expect(told('are ahead')).toHaveLength(1);
  });

  it('warns of calls that fail one after the other, and anew once one has succeeded', async () => {
    const locks = await start({ failures: 3 });
    const text = `3 calls for ${KEY} have failed one after the other`;
    for (const times of [1, 2]) {
      const lock = await locks.acquire(KEY);
      for (let call = 0; call < 5; call += 1)
        await expect(locks.acquire(KEY, { waitMs: 10 })).rejects.toThrow(LockTimeoutError);
      expect(told(text)).toHaveLength(times);
      await lock.release();
    }
  });

  it('warns of calls that fail also where the threshold is no whole number', async () => {
    const locks = await start({ failures: 2.5 });
    const lock = await locks.acquire(KEY);
    for (let call = 0; call < 5; call += 1)
      await expect(locks.acquire(KEY, { waitMs: 10 })).rejects.toThrow(LockTimeoutError);
    expect(told('have failed one after the other')).toHaveLength(1);
    expect(told('3 calls for')).toHaveLength(1);
    await lock.release();
  });

  it('warns of no call that its caller has ended itself', async () => {
    const locks = await start({ failures: 3 });
    const lock = await locks.acquire(KEY);
    for (let call = 0; call < 5; call += 1)
      await expect(locks.acquire(KEY, { signal: AbortSignal.timeout(5) })).rejects.toThrow(LockAbortedError);
    expect(told('one after the other')).toEqual([]);
    await lock.release();
  });

  it('warns of no call that only tries, and finds the lock busy', async () => {
    const locks = await start({ failures: 3 });
    const lock = await locks.acquire(KEY);
    const failed: boolean[] = [];
    const events = locks.events$.subscribe((event) => event.type === 'failed' && failed.push(event.busy));
    for (let call = 0; call < 5; call += 1)
      await expect(locks.acquire(KEY, { waitMs: 0 })).rejects.toThrow(LockTimeoutError);
    await expect(locks.acquire(KEY, { waitMs: 10 })).rejects.toThrow(LockTimeoutError);
    events.unsubscribe();
    // The events are there, and say which of them are answers.
    expect(failed).toEqual([true, true, true, true, true, false]);
    expect(told('one after the other')).toEqual([]);
    await lock.release();
  });

  it('warns of nothing where alerts are off', async () => {
    const locks = await start(false);
    await locks.acquire(KEY);
    for (let call = 0; call < 12; call += 1)
      await expect(locks.acquire(KEY, { waitMs: 10 })).rejects.toThrow(LockTimeoutError);
    expect(told('one after the other')).toEqual([]);
  });
});
