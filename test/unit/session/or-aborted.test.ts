import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { orAborted } from '../../../lib/session/or-aborted.js';
import { promisesSettled } from '../support/manual-clock.js';

describe('What is waited for until a signal aborts', () => {
  it('settles as its promise does, and leaves no listener behind', async () => {
    const { signal } = new AbortController();
    expect(await orAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(orAborted(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('is given up at once when the signal aborts, and also when it had before', async () => {
    const asker = new AbortController();
    const told: string[] = [];
    const never = new Promise<never>(() => undefined);
    const wait = () => orAborted(never, asker.signal).catch((error: Error) => told.push(error.message));
    void wait();
    asker.abort(new Error('given up'));
    await promisesSettled();
    expect(told).toEqual(['given up']);
    await wait();
    expect(told).toEqual(['given up', 'given up']);
  });

  it('leaves no rejection unhandled that comes after the signal has aborted', async () => {
    const waited = orAborted(Promise.reject(new Error('too late')), AbortSignal.abort(new Error('given up')));
    await expect(waited).rejects.toThrow('given up');
  });
});
