import { describe, expect, it } from '@jest/globals';
import { Wait, Latch } from '../../../lib/engine/wait.js';
import { LockClosedError, LockTimeoutError } from '../../../lib/lock/errors.js';
import { promisesSettled } from '../support/manual-clock.js';
import { rejection } from './support/engine-world.js';

const never = (): Promise<void> => new Promise(() => undefined);

/** Runs `work` and returns what nobody handled meanwhile. */
async function unhandledDuring(work: () => Promise<void>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): unknown => unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    await work();
    await promisesSettled();
    await promisesSettled();
  } finally {
    process.off('unhandledRejection', note);
  }
  return unhandled;
}

describe('a wait', () => {
  it('lets through what settles in time', async () => {
    const wait = new Wait();
    expect(await wait.guard(Promise.resolve(42))).toBe(42);
    const failure = new Error('of the work');
    expect(await rejection(wait.guard(Promise.reject(failure)))).toBe(failure);
  });

  it('rejects what it guards once it is ended, and whatever it is given later', async () => {
    const wait = new Wait();
    const waiting = rejection(wait.guard(never()));
    const reason = new LockTimeoutError('too late');
    wait.end(reason);
    expect(await waiting).toBe(reason);
    expect(await rejection(wait.guard(Promise.resolve(1)))).toBe(reason);
  });

  it('keeps the first reason for which it is ended', async () => {
    const wait = new Wait();
    wait.end(new LockTimeoutError('first'));
    wait.end(new LockClosedError('second'));
    expect(wait.error?.details).toBe('first');
    expect((await rejection(wait.guard(never()))).details).toBe('first');
  });

  it('is ended by nothing once it has got what it waited for', async () => {
    const wait = new Wait();
    wait.succeed();
    wait.end(new LockTimeoutError('too late'));
    expect(wait.error).toBeUndefined();
    expect(await wait.guard(Promise.resolve(42))).toBe(42);
  });

  it('leaves no rejection unhandled, whenever what it guards fails', async () => {
    const unhandled = await unhandledDuring(async () => {
      const wait = new Wait();
      let failLater!: (error: Error) => void;
      const waiting = rejection(wait.guard(new Promise((_resolve, reject) => (failLater = reject))));
      wait.end(new LockTimeoutError('too late'));
      await waiting;
      failLater(new Error('after the end'));
      await rejection(wait.guard(Promise.reject(new Error('given to it afterwards'))));
    });
    expect(unhandled).toEqual([]);
  });
});

describe('a latch', () => {
  it('resolves for who waits, and for who comes after it was opened', async () => {
    const latch = new Latch();
    const waiting = latch.opened();
    latch.open();
    latch.open();
    await waiting;
    await latch.opened();
  });
});
